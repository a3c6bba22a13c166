/** Characters that terminals obey and do not show, and those that turn the direction of text around. */
const commands = /(?![\n\t])[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

/**
 * A text of a model as a terminal can show it safely: what would move the cursor, clear the screen or turn the direction around becomes an
 * escape such as `\u001b`. Line breaks and tabs stay.
 */
export function terminalText(text: string): string {
  return text.replace(commands, (command) => `\\u${command.codePointAt(0)!.toString(16).padStart(4, '0')}`);
}
