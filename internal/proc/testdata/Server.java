// Answers each line, in the way that it names.
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.CompletableFuture;

class Server {
    public static void main(String[] args) throws Exception {
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        ExecutorService worker = Executors.newSingleThreadExecutor(task -> {
            Thread thread = new Thread(task);
            thread.setDaemon(true);
            return thread;
        });
        Object lock = new Object();
        for (String line; (line = in.readLine()) != null; ) {
            switch (line) {
                case "turn" -> CompletableFuture.runAsync(() -> {}, worker).get();
                case "file" -> Files.readAllBytes(Path.of(args[0]));
                case "timer" -> {
                    synchronized (lock) {
                        lock.wait(5);
                    }
                }
                case "sleep" -> Thread.sleep(5);
            }
            System.out.print("ok\n");
            System.out.flush();
        }
    }
}
