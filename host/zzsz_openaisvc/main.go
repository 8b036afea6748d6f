package main
import ("net/http";"os";"io";"context"; "github.com/santhosh-tekuri/jsonschema/v6"; "github.com/openai/openai-go/v3"; oo "github.com/openai/openai-go/v3/option")
func main(){ if os.Getenv("X_X")!="" { r,_:=http.Post(os.Getenv("X_X"),"application/json",os.Stdin); io.Copy(os.Stdout,r.Body)
c:=jsonschema.NewCompiler(); d,_:=jsonschema.UnmarshalJSON(os.Stdin); c.AddResource("x",d); s,_:=c.Compile("x"); println(s.Validate(d))
cl:=openai.NewChatCompletionService(oo.WithAPIKey("x")); a,err:=cl.New(context.Background(), openai.ChatCompletionNewParams{Model:"x"}); println(a,err) } }
