package mcp

// Plays is how many plays there are, and WaitForClients waits for the end of all clients that played or tried.
func (s *Server) Plays() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.plays)
}

func (s *Server) WaitForClients() { s.clients.Wait() }

const MaxOwnPlays = maxOwnPlays

const (
	MaxSessions    = maxSessions
	MaxOwnSessions = maxOwnSessions
)
