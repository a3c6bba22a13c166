/** A deadline passes in so many steps. */
const steps = 10;

/**
 * Calls `late` after this time, unless the returned function is called before.
 *
 * A process that is stopped, as by Ctrl-Z, or gets no processor for a while loses one step by that, and not all the time. So it still
 * reads what was answered meanwhile.
 */
export function startDeadline(milliseconds: number, late: () => void): () => void {
  const step = Math.ceil(milliseconds / steps);
  let timer: ReturnType<typeof setTimeout>;
  const wait = (left: number) => {
    timer = setTimeout(() => (left > step ? wait(left - step) : late()), Math.min(step, left));
  };
  wait(milliseconds);
  return () => clearTimeout(timer);
}
