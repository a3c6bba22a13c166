/** Anything but white space, control and ignorable characters, code points without a meaning, marks alone, and blanks with another name. */
const ink = /[^\s\p{C}\p{M}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** Whether a reader sees anything of a text. */
export function isVisible(text: string): boolean {
  return ink.test(text);
}
