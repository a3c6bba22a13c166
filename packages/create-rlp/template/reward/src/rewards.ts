/** What a reward sees of an episode here. */
interface Episode {
  readonly response: string;
  /** The row of the data. */
  readonly task: { readonly metadata: { readonly answer: string } };
}

/** Rewards numbers near the answer: 1 / (1 + distance), and 0 for anything but a number. Replace it by what you want more of. */
export function near({ response, task }: Episode): number {
  const distance = Math.abs(Number(response) - Number(task.metadata.answer));
  return response.trim() === '' || Number.isNaN(distance) ? 0 : 1 / (1 + distance);
}
