# Runs the code of a node. It reads {"name","code","inputs","requires"} from standard input and writes to descriptor 3: a
# report of how the code ended as one line of JSON and, after a success, the result as JSON.
import sys

sys.path[:] = [p for p in sys.path if p]  # modules of the working folder must not replace these
import builtins
import faulthandler
import json
import os

RESULTS = 3
SIGTERM = 15


class Refused(Exception):
    """A fault of the code found before it runs, or of its result."""

    def __init__(self, message, kind="", line=0, column=0, **more):
        self.report = dict(more, message=message, kind=kind, line=line, column=column)


def send(report, result=b""):
    data = json.dumps(report, default=str).encode("utf-8", "replace") + b"\n" + result
    view = memoryview(data)
    while view:
        view = view[os.write(RESULTS, view):]


class Source:
    """A loader by which tracebacks that the code prints can show its lines."""

    def __init__(self, code):
        self.code = code

    def get_source(self, _name):
        return self.code


def bytes_before(text, characters):
    return len(text[:characters].encode("utf-8", "replace"))


def at(node):
    return {"line": node.lineno, "column": node.col_offset}


def kind_of(value):
    return getattr(type(value), "__name__", "?")


def full_kind(value):
    kind = type(value)
    module = getattr(kind, "__module__", "builtins")
    return kind.__name__ if module in ("builtins", "__main__") else module + "." + kind.__name__


# What the code declares.

def statements(body):
    """Yields all statements of the module's own scope."""
    for node in body:
        yield node
        for field in ("body", "orelse", "finalbody"):
            if type(node).__name__ not in ("FunctionDef", "AsyncFunctionDef", "ClassDef"):
                yield from statements(getattr(node, field, None) or [])
        for part in getattr(node, "handlers", None) or getattr(node, "cases", None) or []:
            yield from statements(part.body)


def declarations(tree):
    found = {}
    for node in statements(tree.body):
        if type(node).__name__ == "AnnAssign" and type(node.target).__name__ == "Name":
            found.setdefault(node.target.id, []).append(node)
    return found


def remove_annotations(tree, names):
    """Removes the annotations of these names, because Python may not know the types."""
    import _ast as ast

    def remove(body):
        for i, node in enumerate(body):
            if type(node).__name__ in ("FunctionDef", "AsyncFunctionDef", "ClassDef"):
                continue
            if type(node).__name__ == "AnnAssign" and getattr(node.target, "id", None) in names:
                new = ast.Pass() if node.value is None else ast.Assign(targets=[node.target], value=node.value, type_comment=None)
                for place in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                    setattr(new, place, getattr(node, place, None))
                body[i] = new
                continue
            for field in ("body", "orelse", "finalbody"):
                part = getattr(node, field, None)
                if isinstance(part, list):
                    remove(part)
            for part in getattr(node, "handlers", None) or getattr(node, "cases", None) or []:
                remove(part.body)

    remove(tree.body)


TYPES = {
    "str": str, "int": int, "float": (float, int), "bool": bool, "list": list, "dict": dict, "tuple": tuple, "set": set,
    "frozenset": frozenset, "bytes": bytes, "bytearray": bytearray, "complex": (complex, float, int), "None": type(None),
    "List": list, "Dict": dict, "Tuple": tuple, "Set": set, "FrozenSet": frozenset,
}


def parsed(source):
    return compile(source, "annotation", "eval", 0x400, True).body


def expects(node):
    """Returns the names of the outer types that an annotation allows, or None if they are unknown."""
    kind = type(node).__name__
    if kind == "Index":  # before Python 3.9
        return expects(node.value)
    if kind == "Constant" and isinstance(node.value, str):
        try:
            return expects(parsed(node.value.strip()))
        except SyntaxError:
            return None
    if kind == "Constant" and node.value is None:
        return ["None"]
    if kind == "Name":
        return [node.id] if node.id in TYPES else None
    if kind == "Attribute":
        return [node.attr] if node.attr in TYPES and getattr(node.value, "id", "") in ("typing", "t", "builtins") else None
    if kind == "BinOp" and type(node.op).__name__ == "BitOr":
        return union([node.left, node.right])
    if kind == "Subscript":
        base = getattr(node.value, "id", None) or getattr(node.value, "attr", None)
        inner = node.slice.value if type(node.slice).__name__ == "Index" else node.slice
        parts = inner.elts if type(inner).__name__ == "Tuple" else [inner]
        if base == "Optional":
            names = expects(inner)
            return names and names + ["None"]
        if base == "Union":
            return union(parts)
        if base in ("Annotated", "Final"):
            return expects(parts[0])
        return expects(node.value)
    return None


def union(parts):
    names = []
    for part in parts:
        more = expects(part)
        if more is None:
            return None
        names += [name for name in more if name not in names]
    return names


def fits(value, names):
    return names is None or any(isinstance(value, TYPES[name]) for name in names)


def convert(value, names):
    """Returns the value of an input: text that is a JSON list or object is parsed if the declared type is one, and a list becomes
    a tuple or a set if that is declared, because the results of other nodes have these as lists."""
    if fits(value, names):
        return value
    if isinstance(value, str) and any(n in ("list", "dict", "List", "Dict") for n in names):
        try:
            read = json.loads(value)
        except (ValueError, RecursionError):
            read = None
        if isinstance(read, (list, dict)) and fits(read, names):
            return read
    if isinstance(value, list):
        for kind in (TYPES[n] for n in names if n.lower() in ("tuple", "set", "frozenset")):
            try:
                return kind(value)
            except TypeError:  # an item that a set cannot hold
                pass
    return value


# The result as JSON.

CIRCLE = "contains itself"
TOO_DEEP = "nested too deeply"


def module_type(module, name):
    """Returns a type of a module that the code has imported, or (), of which there are no instances."""
    return getattr(sys.modules.get(module), name, ())


def as_list(values):
    """Returns the values of a set in order: sorted, or by their types and representations if they cannot be compared."""
    try:
        return sorted(values)
    except TypeError:
        return sorted(values, key=lambda v: (full_kind(v), repr(v)))


class Plain:
    """Replaces values that JSON does not have: json.dumps calls it for them."""

    def __init__(self):
        self.mark = None  # precedes the digits of a Decimal

    def __call__(self, value):
        if isinstance(value, (set, frozenset)):
            return as_list(value)
        if isinstance(value, (bytes, bytearray)):
            try:
                return value.decode("utf-8")
            except UnicodeDecodeError:
                from binascii import b2a_base64
                return b2a_base64(value, newline=False).decode("ascii")
        if isinstance(value, module_type("datetime", "date")):  # datetime too
            return value.isoformat()
        if isinstance(value, module_type("pathlib", "PurePath")):
            return str(value)
        if isinstance(value, module_type("decimal", "Decimal")) and value.is_finite():
            if self.mark is None:
                self.mark = os.urandom(16).hex()
            return self.mark + str(value)
        raise TypeError

    def numbers(self, text):
        """Makes numbers of the marked texts."""
        if self.mark is None:
            return text
        import re
        return re.sub('"%s([^"]*)"' % self.mark, r"\1", text)


def not_json(value, path="result"):
    """Finds what JSON cannot represent in a value: (path, what, found), or None."""
    pending, around = [(value, path, ())], None
    while pending:
        value, path, around = pending.pop()
        if isinstance(value, str):
            try:
                value.encode("utf-8")
            except UnicodeEncodeError:
                return path, "text with a lone surrogate", value
        elif value is None or isinstance(value, int):
            pass
        elif isinstance(value, float):
            if value != value or value in (float("inf"), float("-inf")):
                return path, repr(value), value
        elif isinstance(value, (dict, list, tuple, set, frozenset)):
            if id(value) in around:
                return path, CIRCLE, value
            if len(around) > 5000:
                return path, TOO_DEEP, value
            inside = around + (id(value),)
            if isinstance(value, dict):
                for key in value:
                    if not (key is None or isinstance(key, (str, int, float))):
                        return path, "a key of type %s" % full_kind(key), key
                items = [(v, path + ("." + k if isinstance(k, str) and k.isidentifier() else "[%s]" % json.dumps(k)), inside)
                         for k, v in value.items()]
            else:
                ordered = as_list(value) if isinstance(value, (set, frozenset)) else value
                items = [(v, "%s[%d]" % (path, i), inside) for i, v in enumerate(ordered)]
            pending.extend(reversed(items))
        else:
            try:
                Plain()(value)
            except TypeError:
                return path, repr(value) if isinstance(value, module_type("decimal", "Decimal")) else full_kind(value), value
    return None


def unlimited():
    """Allows integers of any number of digits. Returns a function that undoes that."""
    if not hasattr(sys, "get_int_max_str_digits"):
        return lambda: None
    before = sys.get_int_max_str_digits()
    sys.set_int_max_str_digits(0)
    return lambda: sys.set_int_max_str_digits(before)


def encoded(value, place):
    undo = unlimited()
    try:
        plain = Plain()
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=plain)
        return plain.numbers(text).encode("utf-8")
    except RecursionError:
        why = ("result", TOO_DEEP, value)
    except (TypeError, ValueError) as e:
        why = None
        try:
            why = not_json(value)
        except Exception:
            pass
        if why is None:
            raise Refused("The result cannot be written as JSON: %s" % e, "result", **place)
    finally:
        undo()
    path, what, found = why
    if what == CIRCLE:
        raise Refused("The result cannot be written as JSON: %s contains itself" % path, "result", **place)
    raise Refused("The result cannot be written as JSON: %s is %s" % (path, what) if not what.startswith("a key ")
                  else "The result cannot be written as JSON: %s has %s" % (path, what), "result", unfit=full_kind(found), **place)


# The run of the code.

def prepare(job):
    """Compiles the code and converts its inputs: (compiled, declarations, inputs)."""
    code, inputs = job["code"], job["inputs"]
    try:
        tree = compile(code, job["name"], "exec", 0x400, True)
        declared = declarations(tree)
        compile(tree, job["name"], "exec", 0, True)  # finds errors beyond the grammar first
    except SyntaxError as e:
        line = (e.text or "").rstrip("\n")
        raise Refused("%s: %s" % (type(e).__name__, e.msg), "syntax", e.lineno or 0, bytes_before(line, max(0, (e.offset or 1) - 1)))
    except (ValueError, RecursionError, MemoryError, OverflowError) as e:
        raise Refused("%s: %s" % (type(e).__name__, e), "syntax")
    bare = [name for name in inputs if name not in declared]
    if bare:
        raise Refused("Input(s) missing type annotation in code: %s\nAdd annotations:\n%s" % (
            ", ".join(bare), "\n".join("  %s: <type>" % n for n in bare)), "declare")
    if "result" not in declared:
        raise Refused("Code must declare result type annotation: result: <type> = ...", "declare")
    for name in inputs:
        names = expects(declared[name][0].annotation)
        inputs[name] = convert(inputs[name], names)
        if not fits(inputs[name], names):
            raise Refused("Input '%s' expects %s but received %s" % (name, " | ".join(names), kind_of(inputs[name])), "input",
                          **at(declared[name][0]))
    remove_annotations(tree, set(inputs) | {"result", "next"})
    return compile(tree, job["name"], "exec", 0, True), declared, inputs


def missing_modules(names):
    if not names:
        return []
    from importlib.util import find_spec

    def installed(name):
        try:
            return find_spec(name) is not None
        except ValueError:
            return name in sys.modules
        except Exception:
            return False

    return [n for n in names if not installed(n)]


def outcome(space, declared):
    """Returns what the code left behind: (report, result)."""
    place = at(declared["result"][0])
    if "result" not in space:
        raise Refused("The code ended, and nothing was assigned to result", "result", **place)
    value, names = space["result"], expects(declared["result"][0].annotation)
    if not fits(value, names):
        raise Refused("Result is declared as %s but is %s" % (" | ".join(names), kind_of(value)), "result", **place)
    report = {"done": True}
    if space.get("next") is not None and not callable(space["next"]):
        if not isinstance(space["next"], str):
            place = at(declared["next"][0]) if "next" in declared else {}
            raise Refused("next must be the name of an action, not %s" % kind_of(space["next"]), "result", **place)
        report["next"] = space["next"]
    return report, encoded(value, place)


def innermost(tb, name):
    """Returns the line and column of the innermost frame of the code."""
    line, column = 0, 0
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == name:
            line, column = tb.tb_lineno, -1
            positions = getattr(tb.tb_frame.f_code, "co_positions", None)
            if positions is not None and tb.tb_lasti >= 0:
                import itertools
                place = next(itertools.islice(positions(), tb.tb_lasti // 2, None), None)
                if place and place[0] == line and place[2] is not None:
                    column = place[2]
        tb = tb.tb_next
    return line, column


def traceback_of(error, name):
    """Returns the traceback as Python prints it, from the first frame of the code on."""
    tb = error.__traceback__
    while tb is not None and tb.tb_frame.f_code.co_filename != name:
        tb = tb.tb_next
    import traceback
    return "".join(traceback.format_exception(type(error), error, tb))


def text_of(error):
    try:
        text = str(error)
    except BaseException:
        text = "(str() of the exception failed)"
    kind = full_kind(error)
    return kind + ": " + text if text else kind


def failure(error, name):
    line, column = innermost(error.__traceback__, name)
    report = {"message": text_of(error), "kind": "exception", "line": line, "column": column}
    if isinstance(error, ModuleNotFoundError) and isinstance(error.name, str):
        report["modules"] = [error.name]
    try:
        report["traceback"] = traceback_of(error, name)
    except BaseException:
        pass
    return report


def ended(error, name):
    """Returns how code ended that called sys.exit: (status, report); the report is None if that is not a failure."""
    if error.code is None or error.code == 0 and isinstance(error.code, int):
        return 0, None
    line, column = innermost(error.__traceback__, name)
    status = error.code if isinstance(error.code, int) else 1
    message = "The code ended itself with exit status %d" % (status & 255)
    if not isinstance(error.code, int):
        message = "The code ended itself: %s" % (error.code,)
    return status, {"message": message, "kind": "exit", "line": line, "column": column}


def silence_fork():
    """Keeps a process that the code forked from writing a report."""
    faulthandler.disable()
    faulthandler.unregister(SIGTERM)
    os.close(RESULTS)


def main():
    os.set_inheritable(RESULTS, False)
    undo = unlimited()
    try:
        job = json.loads(sys.stdin.buffer.read())
    except RecursionError:
        send({"message": "An input is nested too deeply for Python", "kind": "input"})
        return 1
    finally:
        undo()
    empty = os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)
    name, process = job["name"], os.getpid()
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(encoding="utf-8", errors="backslashreplace", line_buffering=True)
    module = type(sys)("__main__")
    module.__dict__.update(__builtins__=builtins, __loader__=Source(job["code"]))
    sys.modules["__main__"] = module
    sys.argv[:] = [name]
    sys.path.insert(0, os.getcwd())

    def report_end(report, result=b""):
        if os.getpid() == process:  # not in a process that the code forked
            send(report, result)

    try:
        missing = missing_modules(job["requires"])
        if missing:
            raise Refused("Module(s) that the code requires are not installed: " + ", ".join(missing), "requires", modules=missing)
        compiled, declared, inputs = prepare(job)
        module.__dict__.update(inputs)
        faulthandler.enable(RESULTS, all_threads=False)
        faulthandler.register(SIGTERM, RESULTS, all_threads=False, chain=True)
        os.register_at_fork(after_in_child=silence_fork)
        status = 0
        try:
            exec(compiled, module.__dict__)
        except SystemExit as e:
            status, report = ended(e, name)
            if report:
                report_end(report)
                return status
        if os.getpid() == process:
            report_end(*outcome(module.__dict__, declared))
        return status
    except Refused as e:
        report_end(e.report)
    except BaseException as e:
        report_end(failure(e, name))
    return 1


if __name__ == "__main__":
    sys.exit(main())
