package conn

import (
	"errors"
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// Credential returns the user with this name or number as a process of ours takes it, and nil where that is ourselves. "" is the user
// that a [Command] without one runs as.
func Credential(name string) (*syscall.Credential, error) {
	_, c, err := credential(name)
	return c, err
}

// credential returns the user that the server runs as, and nil where that is ourselves.
func credential(name string) (uid int, c *syscall.Credential, err error) {
	if name == "" {
		if os.Geteuid() != 0 {
			return os.Geteuid(), nil, nil
		}
		name = nobody
	}
	u, err := LookUpUser(name)
	if err != nil {
		return 0, nil, &StartError{Reason: err.Error(), Hint: "--user names the user that the server runs as"}
	}
	uid, err = strconv.Atoi(u.Uid)
	gid, gidErr := strconv.Atoi(u.Gid)
	if err = errors.Join(err, gidErr); err != nil {
		return 0, nil, err
	}
	if uid == os.Geteuid() {
		return uid, nil, nil
	}
	if os.Geteuid() != 0 {
		return 0, nil, &StartError{Reason: fmt.Sprintf("only root can start it as user %s", name)}
	}
	return uid, &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}, nil
}

// LookUpUser returns the user of this machine who has a name or a number.
func LookUpUser(name string) (*user.User, error) {
	if u, err := user.Lookup(name); err == nil {
		return u, nil
	}
	if _, err := strconv.Atoi(name); err == nil {
		if u, err := user.LookupId(name); err == nil {
			return u, nil
		}
	}
	return nil, fmt.Errorf("there is no user %s", name)
}
