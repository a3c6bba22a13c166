/** Parameters of the largest models whose runs are faster side by side than one after another on all threads. Larger ones fill the threads. */
export const sideBySideParameters = 2 ** 24;
