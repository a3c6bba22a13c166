/** Parts that load on first use. From then on they are at hand, and `use` is called at once. */
export function lazily<Parts>(load: () => Promise<Parts>) {
  let loaded: Parts | undefined;
  return <Result>(use: (parts: Parts) => Result): Result | Promise<Result> => {
    if (loaded !== undefined) return use(loaded);
    return load().then((parts) => {
      loaded ??= parts;
      return use(loaded);
    });
  };
}
