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
import abc, array, asyncio, bisect, calendar, cmath, collections, contextlib, copy, dataclasses, datetime, decimal, enum, fractions
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
