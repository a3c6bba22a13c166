import { codecSource } from './codec-source.ts';
import { guestSource } from './guest-source.ts';
import { harnessSource } from './harness-source.ts';

/**
 * Python code that prepares an interpreter before its memory is kept.
 *
 * Modules that programs often import are loaded. Before the interpreter is sealed, everything of Pyodide is removed, and
 * `asyncio` gets a loop that only sleeps.
 */
const prepareSource = `
import sys
sys.dont_write_bytecode = True
import abc, array, asyncio, bisect, calendar, cmath, collections, concurrent.futures.thread, contextlib, copy, dataclasses, datetime, decimal, enum, fractions
import functools, hashlib, heapq, inspect, io, itertools, json, math, numbers, operator, os, pprint, queue, random, re, statistics
import string, struct, textwrap, threading, time, traceback, types, typing, warnings

def _prepare():
    import asyncio.base_events
    class Selector:
        def select(self, timeout):
            if timeout: time.sleep(timeout)
            return []
        def close(self): pass
    class Loop(asyncio.base_events.BaseEventLoop):
        def __init__(self):
            super().__init__()
            self._selector = Selector()
        def _process_events(self, events): pass
        def _write_to_self(self): pass
    class Policy(asyncio.events._BaseDefaultEventLoopPolicy):
        _loop_factory = Loop
    asyncio.events._event_loop_policy = Policy()
    asyncio.run = lambda main, *, debug=None, loop_factory=None: _run_in(Loop(), main)
    threading.Thread.start = _start
    threading.Thread.join = lambda self, timeout=None: None
    threading.Thread.is_alive = lambda self: False
    wait = threading.Condition.wait
    threading.Condition.wait = lambda self, timeout=None: wait(self, timeout) if timeout is not None else _never()
    queue.SimpleQueue = queue._PySimpleQueue
    class ThreadPoolExecutor(concurrent.futures.Executor):
        """Calls a function when it is submitted."""
        def __init__(self, max_workers=None, thread_name_prefix='', initializer=None, initargs=(), **more):
            if max_workers is not None and max_workers <= 0: raise ValueError('max_workers must be greater than 0')
            self._closed = False
            if initializer is not None: initializer(*initargs)
        def submit(self, fn, /, *args, **kwargs):
            if self._closed: raise RuntimeError('cannot schedule new futures after shutdown')
            future = concurrent.futures.Future()
            future.set_running_or_notify_cancel()
            try: future.set_result(fn(*args, **kwargs))
            except Exception as error: future.set_exception(error)
            return future
        def shutdown(self, wait=True, *, cancel_futures=False): self._closed = True
    ThreadPoolExecutor.__module__ = 'concurrent.futures.thread'
    concurrent.futures.ThreadPoolExecutor = concurrent.futures.thread.ThreadPoolExecutor = ThreadPoolExecutor
    for name in [name for name in sys.modules if name.split('.')[0] in ('js', 'pyodide', 'pyodide_js', '_pyodide', '_pyodide_core')]:
        del sys.modules[name]
    sys.meta_path[:] = [finder for finder in sys.meta_path if 'yodide' not in type(finder).__module__ and 'Js' not in type(finder).__name__]
    os.environ.clear()
    os.environ.update({'HOME': '/', 'LANG': 'C.UTF-8'})
    sys.path_importer_cache.clear()

def _start(thread):
    """A thread runs to its end when it is started: there is one processor for all."""
    if thread._started.is_set(): raise RuntimeError('threads can only be started once')
    thread._started.set()
    try: thread.run()
    except SystemExit: pass
    except BaseException: threading.excepthook(threading.ExceptHookArgs((*sys.exc_info(), thread)))

def _never():
    raise RuntimeError('this thread waits for another one for ever: threads run one after another here, each to its end when it is started')

def _run_in(loop, main):
    asyncio.events._set_running_loop(None)
    asyncio.set_event_loop(loop)
    try: return loop.run_until_complete(main)
    finally: loop.close()

`;

/** Last words to an interpreter before it is sealed. */
export const sealSource = '_prepare()';

/** Everything that an interpreter needs for either role. Native interpreters take it without the preparation. */
export const driverSource = codecSource + guestSource + harnessSource;
export const imageSource = prepareSource + driverSource;
