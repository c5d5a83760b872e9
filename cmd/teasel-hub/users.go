package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
)

const usersName = "users.json"

// users are those that the hub knows. The file has their public keys only.
type users struct {
	Version int    `json:"version"`
	Users   []user `json:"users"`

	self nkeys.KeyPair // of the hub itself, for as long as it runs; nil: it needs none
}

// user is a machine, or an operator, of one campaign.
type user struct {
	Key      string `json:"key"`
	Campaign string `json:"campaign"`
	Name     string `json:"name"`
	Operator bool   `json:"operator,omitempty"` // gives orders, and sends nothing else
}

func (u *user) nkey() *server.NkeyUser {
	r := fleet.MachineRights(u.Campaign, u.Name)
	if u.Operator {
		r = fleet.OperatorRights(u.Campaign, u.Name)
	}
	return &server.NkeyUser{Nkey: u.Key, Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Allow: r.Publish}, Subscribe: &server.SubjectPermission{Allow: r.Subscribe}}}
}

func readUsers(dir string) (*users, error) {
	path := filepath.Join(dir, usersName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return &users{Version: 1}, nil
	}
	u := &users{}
	if err == nil {
		err = json.Unmarshal(text, u)
	}
	if err == nil && u.Version != 1 {
		err = fmt.Errorf("version %d: expected 1", u.Version)
	}
	for _, x := range u.Users {
		if err == nil && !nkeys.IsValidPublicUserKey(x.Key) {
			err = fmt.Errorf("key %q of %s: expected the public key of a user", x.Key, x.Name)
		}
		if err == nil {
			err = errors.Join(fleet.CheckName(x.Campaign), fleet.CheckName(x.Name))
		}
	}
	if err != nil {
		return nil, usage("'teasel-hub init' writes it", "reading %s: %w", path, err)
	}
	return u, nil
}

func (u *users) write(dir string) error {
	text, err := json.MarshalIndent(u, "", "  ")
	if err != nil {
		return err
	}
	return corpus.WriteFile(filepath.Join(dir, usersName), append(text, '\n'))
}

// campaigns returns the names of those that users are for, sorted.
func (u *users) campaigns() (names []string) {
	for _, x := range u.Users {
		names = append(names, x.Campaign)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
