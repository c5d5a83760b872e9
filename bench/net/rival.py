"""Measures boofuzz against an MQTT broker: CONNECT, a fuzzed PUBLISH, with the fields of examples/net/mqtt.yaml.

Usage: rival.py PORT TESTS wait|go|plain. With wait it waits for the answer to the PUBLISH, which has none unless it is refused; with
go it does not, and writes no log; plain is boofuzz as it comes, which does not wait either and writes its log.
"""
import os
import sys
import tempfile
import time

from boofuzz import Block, Byte, Bytes, FuzzLoggerText, Request, Session, Size, String, Target, TCPSocketConnection, Word

port, tests, how = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
loggers = [FuzzLoggerText(file_handle=open(os.devnull, "w"))] if how == "plain" else []


def text(name, value, fuzzable):
    return Block(name, children=(
        Size(name + "-length", block_name=name + "-text", length=2, endian=">", fuzzable=fuzzable),
        Block(name + "-text", children=(String(name + "-value", value, fuzzable=fuzzable),)),
    ))


connect = Request("connect", children=(
    Byte("kind", 0x10, fuzzable=False),
    Size("remaining", block_name="body", length=1, fuzzable=False),
    Block("body", children=(
        text("protocol", "MQTT", False), Byte("level", 4, fuzzable=False), Byte("flags", 2, fuzzable=False),
        Word("keep-alive", 60, endian=">", fuzzable=False), text("client", "teasel", False),
    )),
))
publish = Request("publish", children=(
    Byte("kind", 0x30),
    Size("remaining", block_name="body", length=1),
    Block("body", children=(text("topic", "a/b", True), Bytes("payload", b"hello"))),
))

session = Session(
    target=Target(connection=TCPSocketConnection("127.0.0.1", port)),
    web_port=None, keep_web_open=False, index_end=tests, fuzz_loggers=loggers, receive_data_after_fuzz=how == "wait", receive_data_after_each_request=True,
    db_filename=tempfile.mktemp(suffix=".db"),
)
session.connect(connect)
session.connect(connect, publish)
began = time.time()
session.fuzz()  # of connect, which comes first, no field is fuzzed
took = time.time() - began
print("boofuzz, " + how + ": %d tests in %.1f s: %.1f a second" % (session.num_cases_actually_fuzzed, took, session.num_cases_actually_fuzzed / took))
