package script

import (
	"strings"
)

// RefusalText is what a refusal says: the error's message, or the texts of the result.
func RefusalText(r *Received) string {
	if r.Message.Error != nil {
		return ErrorMessage(r)
	}
	var texts []string
	if content := r.Message.Result.Get("content"); content != nil {
		for _, item := range content.Items {
			text, _ := item.Get("text").Str()
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// ErrorCode returns the code of a well-formed error.
func ErrorCode(r *Received) int64 {
	code, _ := r.Message.Error.Get("code").Int()
	return code
}

// ErrorMessage returns the message of an error; "": there is none.
func ErrorMessage(r *Received) string {
	message, _ := r.Message.Error.Get("message").Str()
	return message
}

// Succeeded reports whether an answer says that the request was carried out.
func Succeeded(r *Received) bool {
	return r.Message.Result != nil && !IsToolError(r.Message.Result)
}
