package completion

import "strings"

// Script returns the script for bash, zsh or fish that completes the command lines of a program, whose file is at the given path.
func Script(shell, program, path string) string {
	script := map[string]string{"bash": bashScript, "zsh": zshScript, "fish": fishScript}[shell]
	quoted := "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	if shell == "fish" {
		quoted = "'" + strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(path) + "'"
	}
	return strings.NewReplacer("@NAME", program, "@FUNC", strings.ReplaceAll(program, "-", "_"), "@PATH", quoted).Replace(script)
}

const bashScript = `# bash completion of @NAME
_@FUNC() {
    local line first=yes
    COMPREPLY=()
    compopt -o nosort 2>/dev/null
    while IFS= read -r line; do
        if [ -n "$first" ]; then
            first=
            [ -z "$line" ] || compopt -o "$line" 2>/dev/null
        else
            COMPREPLY+=("$line")
        fi
    done < <(PFLOW_COMPLETE=bash @PATH "${COMP_LINE:0:COMP_POINT}" "$2" 2>/dev/null </dev/null)
}
complete -o bashdefault -o default -F _@FUNC @NAME
`

const zshScript = `#compdef @NAME
# zsh completion of @NAME
_@FUNC() {
    local line kind rest
    local -a before closed closed_shown open open_shown
    local files=
    before=("${(@Q)words[2,CURRENT-1]}")
    local -a lines
    lines=("${(@f)$(PFLOW_COMPLETE=zsh @PATH "${before[@]}" "${(Q)IPREFIX}${(Q)PREFIX}" 2>/dev/null </dev/null)}")
    for line in "${lines[@]}"; do
        kind=${line[1]} rest=${line[2,-1]}
        case $kind in
        p) compset -P 1 "$rest" ;;
        c) closed+=("${rest%%$'\t'*}") closed_shown+=("${rest#*$'\t'}") ;;
        o) open+=("${rest%%$'\t'*}") open_shown+=("${rest#*$'\t'}") ;;
        f | d) files=$kind ;;
        esac
    done
    local found=1
    (( $#closed )) && compadd -V @NAME -l -d closed_shown -a closed && found=0
    (( $#open )) && compadd -V @NAME -S '' -l -d open_shown -a open && found=0
    case $files in
    f) _files && found=0 ;;
    d) _files -/ && found=0 ;;
    esac
    return found
}
if [[ ${funcstack[1]} == _@FUNC || ${funcstack[1]} == _@NAME ]]; then
    _@FUNC "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
    compdef _@FUNC @NAME
fi
`

const fishScript = `# fish completion of @NAME
function __@FUNC_answer
    set -l current (commandline -ct | string collect)
    set -l plain (string unescape -- "$current" 2>/dev/null | string collect)
    or set plain (string trim --left --chars='\'"' -- "$current" | string collect)
    set -l before (commandline -opc)
    PFLOW_COMPLETE=fish @PATH $before[2..-1] "$plain" 2>/dev/null </dev/null
end
function __@FUNC_words
    set -l answer (__@FUNC_answer)
    test (count $answer) -gt 1
    and printf '%s\n' $answer[2..-1]
end
function __@FUNC_files
    test "$(__@FUNC_answer | head -n 1)" != words
end
complete -c @NAME -f
complete -c @NAME -k -f -a '(__@FUNC_words)'
complete -c @NAME -n __@FUNC_files -F
`
