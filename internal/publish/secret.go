package publish

import (
	"encoding/base64"
	"net/http"
	"strings"
)

// Basic is the token of a user for basic authentication, for the prefix "Basic ".
func (t Token) Basic(user string) Token {
	if t.Empty() {
		return t
	}
	return Token{base64.StdEncoding.EncodeToString([]byte(user + ":" + t.text))}
}

// secretsOf are the forms in which a request has a token. A server that quotes a request would print them.
func secretsOf(r *http.Request) (secrets []string) {
	for _, name := range []string{"Authorization", "Private-Token", "Job-Token"} {
		for _, value := range r.Header[name] {
			word := value[strings.LastIndexByte(value, ' ')+1:]
			secrets = append(secrets, word)
			if decoded, err := base64.StdEncoding.DecodeString(word); err == nil {
				if _, password, ok := strings.Cut(string(decoded), ":"); ok {
					secrets = append(secrets, password)
				}
			}
		}
	}
	return secrets
}
