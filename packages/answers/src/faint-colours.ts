/** Names of dark colours, of colours between, and of those like paper. A text of another name is readable, a ground of another name is none. */
const named =
  /^(?:(?:black|dark(?:blue|green|magenta|red|slategr[ae]y)|indigo|maroon|midnightblue|navy)|(blue|crimson|(?:dim)?gr[ae]y|green|purple|red|steelblue|teal)|(\w*white\w*|aliceblue|azure|canvas|field|gainsboro|honeydew|ivory|lavenderblush|linen|mintcream|oldlace|seashell|snow))$/;
const white = [1, 1, 1];

/** Red, green and blue of a colour, 0 to 1; `undefined` for one that lets through what is behind it, or cannot be read. */
function channels(written: string): readonly number[] | undefined {
  const name = named.exec(written);
  if (name !== null)
    return name[2] !== undefined ? white : white.map(() => (name[1] === undefined ? 0 : 0.5));
  const digits = /^#(?:[\da-f]{3,4}|[\da-f]{6}|[\da-f]{8})$/.test(written) ? written.slice(1) : undefined;
  const hex = digits
    ?.match(digits.length < 6 ? /./g : /../g)
    ?.map((one) => Number(`0x${one.padEnd(2, one)}`) / 255);
  const [, space, list = ''] = /^(rgb|hsl)a?\(([^()]*)\)$/.exec(written) ?? [];
  const given = list.match(/[\d.]+%?/g) ?? [];
  const whole = (at: number) => (space === 'rgb' ? 255 : at === 0 ? 360 : 1);
  const parts = given.map(
    (one, at) => Number.parseFloat(one) / (one.endsWith('%') ? 100 : at < 3 ? whole(at) : 1),
  );
  const [a, b, c, opacity = 1] = hex ?? parts;
  if (a === undefined || b === undefined || c === undefined || !(opacity >= 0.5)) return;
  if (space !== 'hsl') return [a, b, c];
  const spread = b * Math.min(c, 1 - c);
  return [0, 8, 4].map((shift) => {
    const k = (shift + a * 12) % 12;
    return c - spread * Math.max(-1, Math.min(k - 3, 9 - k, 1));
  });
}

const styled = /^.*?(?:\s|(?<=[\w"']["']|^\w+\/))style\s*=\s*(?:"([^"]*)|'([^']*)|(\S*))/is;
const declaration = /(?<![\w-])(color|background(?:-color)?)\s*:([^;]*)/g;

/** Whether the style in a tag gives the text nearly the colour of its ground, which is white unless the style names one. */
export function isFaint(tag: string): boolean {
  const [, ...styles] = styled.exec(tag) ?? [];
  const declared = [...styles.join('').toLowerCase().matchAll(declaration)];
  const valuesOf = (isText: boolean) =>
    declared
      .filter(([, property]) => (property === 'color') === isText)
      .map(([, , value = '']) => value.replace(/url\([^()]*\)|!\s*important/g, '').trim());
  const grounds = valuesOf(false).flatMap(
    (value) => value.match(/#[\da-f]+|(?:rgb|hsl)a?\([^()]*\)|(?<![\w-])[a-z]+(?![\w(-])/g) ?? [],
  );
  const known = grounds.filter((one) => !/^[a-z]+$/.test(one) || named.test(one) || one === 'transparent');
  const behind = known.length === 0 ? [white] : known.map((one) => channels(one) ?? white);
  return valuesOf(true).some((colour) => {
    if (/^(?:(?!transparent)[a-z-]+|(?!rgb|hsl)[a-z-]+\(.*)$/.test(colour) && !named.test(colour))
      return grounds.includes(colour);
    const own = channels(colour);
    return (
      own === undefined ||
      behind.some((ground) => ground.every((value, at) => Math.abs(value - own[at]!) < 0.199))
    );
  });
}
