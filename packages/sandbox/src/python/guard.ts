/**
 * Python code that runs before a program.
 *
 * Its argument is `[memory, cpuSeconds, processes]`. The program is on file descriptor 3. It sets limits that
 * the program cannot raise again. An audit hook (PEP 578) rejects processes, sockets, foreign functions and
 * changes to files. It also rejects reading the environment of other processes. The hook stops mistakes and
 * simple attempts. As PEP 578 states, it is not a security boundary.
 */
export const pythonGuard = `
import json, os, resource, sys
def guard():
    memory, seconds, processes = json.loads(sys.argv[1])
    with os.fdopen(3, encoding='utf-8', newline='') as file:
        source = file.read()
    limits = {'AS': memory, 'CPU': seconds, 'FSIZE': 0, 'CORE': 0, 'NOFILE': 64}
    if processes is not None:
        limits['NPROC'] = processes
    for name, value in limits.items():
        kind = getattr(resource, 'RLIMIT_' + name)
        most = resource.getrlimit(kind)[1]
        value = value if most < 0 else min(value, most)
        try:
            resource.setrlimit(kind, (value, value))
        except (ValueError, OSError):
            if sys.platform == 'linux':
                raise
    sys.argv[:] = ['program.py']
    sys.path[:] = [path for path in sys.path if path]
    code = compile(source, 'program.py', 'exec')
    changes = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
    refused = ('socket.', 'subprocess.', 'shutil.', 'pty.', 'ctypes.', 'os.exec', 'os.fork', 'os.posix_spawn', 'os.spawn',
        'os.system', 'os.kill', 'os.remove', 'os.rename', 'os.rmdir', 'os.mkdir', 'os.link', 'os.symlink', 'os.truncate', 'os.chmod',
        'os.chown', 'os.lchown', 'os.chflags', 'os.utime', 'os.setxattr', 'os.removexattr')
    place, text = os.path.abspath, os.fsdecode
    def hook(event, args):
        if event == 'open' and not isinstance(args[0], int) and place(text(args[0])).startswith('/proc/'):
            raise PermissionError('nothing of other processes may be read here')
        if event == 'open' and isinstance(args[2], int) and args[2] & changes:
            raise PermissionError('no file may be changed here')
        if event == 'import' and args[0] in ('ctypes', '_ctypes'):
            raise ImportError('no foreign functions here')
        if event.startswith(refused):
            raise PermissionError(event + ' is not allowed here')
    try:
        import _posixsubprocess
        def fork_exec(*args):
            raise PermissionError('no processes here')
        _posixsubprocess.fork_exec = fork_exec
    except ImportError:
        pass
    sys.addaudithook(hook)
    return code
code = guard()
del guard, json, os, resource, sys
exec(code, {'__name__': '__main__', '__builtins__': __builtins__})
`;
