import type { ShownStep } from '../src/payload.ts';
import { type ShadeName, shadeOf, shadeValues } from '../src/shades.ts';
import { short } from './numbers.ts';

/** What a token's colour means. */
const meanings: Readonly<Record<ShadeName, readonly [string, string]>> = {
  nothing: ['', ''],
  logprob: ['likely', 'unlikely (probability below 0.25 %)'],
  advantage: ['worse than the group', 'better'],
  ratio: ['less likely than when it was sampled', 'more likely'],
  entropy: ['sure', 'unsure'],
  mask: ['not trained', 'trained'],
};

const classes: Partial<Readonly<Record<ShadeName, readonly [string, string]>>> = {
  logprob: ['', 'less'],
  advantage: ['less', 'more'],
  ratio: ['less', 'more'],
  entropy: ['', 'neutral'],
};

const hues = { more: 'var(--s0)', less: 'var(--s1)', neutral: 'var(--s3)' };

/** The tokens of a step, coloured. */
export function Tokens({
  step,
  colour,
  limit,
}: {
  readonly step: ShownStep;
  readonly colour: ShadeName;
  readonly limit: number;
}) {
  const values = shadeValues(step, colour);
  const texts = step.trace?.tokenTexts ?? [];
  return (
    <pre class="tokens">
      {texts.map((text, at) => {
        const value = values?.[at];
        const shade = value === undefined ? undefined : shadeOf(colour, value, limit);
        const background =
          shade && `color-mix(in srgb, ${hues[shade.hue]} ${Math.round(shade.strength * 55)}%, transparent)`;
        const title = `token ${step.tokens[at]}, logprob ${short(step.behaviorLogprobs[at] ?? 0)}${
          value === undefined || colour === 'logprob' ? '' : `, ${colour} ${short(value)}`
        }`;
        return (
          <span key={at} title={title} style={background && { background }}>
            {text.replaceAll('\n', '↵\n')}
          </span>
        );
      })}
    </pre>
  );
}

/** What the colours mean. */
export function Legend({ colour }: { readonly colour: ShadeName }) {
  if (colour === 'nothing') return null;
  const [low, high] = meanings[colour];
  const [first, second] = classes[colour] ?? ['', 'more'];
  return (
    <p class="legend-line">
      <i class={first} /> {low} <i class={second} /> {high}
    </p>
  );
}
