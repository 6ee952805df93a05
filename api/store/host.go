package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"

	"benchd/worker/bench"
)

// Hosts are kept as JSON under their name: they are few, are read whole, and grow new facts
// with each version, which no query asks for.

// SaveHost keeps a host as it was last seen, in place of what was kept under its name.
func (s *Store) SaveHost(ctx context.Context, h bench.Host) error {
	body, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("save host %s: %w", h.Name, err)
	}
	return s.write(ctx, "save host", func(t *tx) error {
		_, err := t.exec("INSERT INTO hosts (name, body) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET body = excluded.body", h.Name, string(body))
		return err
	})
}

// Hosts gives every host that was ever saved, by name.
func (s *Store) Hosts(ctx context.Context) ([]bench.Host, error) {
	hosts := []bench.Host{}
	err := s.reader.each(ctx, "SELECT body FROM hosts ORDER BY name", nil, func(r *sql.Rows) error {
		h, err := scanHost(r.Scan)
		hosts = append(hosts, h)
		return err
	})
	return hosts, fail("read hosts", err)
}

// Host gives a host, or NotFound, unknown_host.
func (s *Store) Host(ctx context.Context, name string) (bench.Host, error) {
	h, err := scanHost(s.reader.row(ctx, "SELECT body FROM hosts WHERE name = ?", name).Scan)
	if isNoRows(err) {
		return h, bench.Errorf(bench.NotFound, "unknown_host", "there is no host %q", clip(name))
	}
	return h, fail("read host", err)
}

// scanHost reads the body of a host.
func scanHost(scan func(...any) error) (h bench.Host, err error) {
	var body []byte
	if err := scan(&body); err != nil {
		return h, err
	}
	if err := json.Unmarshal(body, &h); err != nil {
		return h, fmt.Errorf("read host: %w", err)
	}
	return h, nil
}
