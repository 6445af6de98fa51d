import { emptiedResponse } from '#shared/conversation/context/tool-calls.ts';
import type { Part } from '#shared/conversation/documents/content.ts';
import type { TokenRule } from '#shared/tokens/text-weight.ts';
import { estimatePartTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { toolOutputConstants } from './tool-output-constants.ts';
import { maskedText, pointerText, withOutput, type ToolOutput } from './tool-output-mask.ts';

/** A tool output as the context has it, and what of it can be read back. */
export interface OutputToFit {
  part: Part;
  /** Of `part`, as it is. */
  tokens: number;
  output: ToolOutput;
  /** Of the blob that will hold the full text, made when it is first asked for; undefined: none will. */
  name: () => string | undefined;
  /** The shortest form. */
  emptied: Fitted;
}

/**
 * `cut`: head, marker, errors, tail; `marker`: how much is left out and where it is; `pointer`: where it is;
 * `emptied`: one word. Each is shorter than the one before.
 */
type Form = 'whole' | 'cut' | 'marker' | 'pointer' | 'emptied';

export interface Fitted {
  part: Part;
  tokens: number;
  form: Form;
}

export interface FormOptions {
  rule: TokenRule | TokenCounting;
  /** Of one output. */
  capCharacters: number;
}

/** The longest form within `availableTokens`; the shortest of all if none fits. */
export function longestForm(
  whole: OutputToFit,
  availableTokens: number,
  options: FormOptions,
): Fitted {
  const { part, tokens } = whole;
  if (tokens <= availableTokens) return { part, tokens, form: 'whole' };
  // Each of the others says at least as much as this: where it has no room, no blob need be named.
  if (pointerTo('', whole, options).tokens > availableTokens) return whole.emptied;
  const marker = markerForm(whole, options);
  // A cut holds the marker, and more.
  if (marker.tokens <= availableTokens) return cutWithin(whole, availableTokens, options) ?? marker;
  const pointer = pointerForm(whole, options);
  return pointer.tokens <= availableTokens ? pointer : whole.emptied;
}

/** Rounds in which a cap is lowered until the output fits. */
const FITTING_ROUNDS = 8;

/** The longest cut within `availableTokens`; undefined if none that says anything fits. */
function cutWithin(
  whole: OutputToFit,
  availableTokens: number,
  options: FormOptions,
): Fitted | undefined {
  let characters = Math.min(options.capCharacters, whole.output.text.length - 1);
  for (let round = 0; round < FITTING_ROUNDS; round++) {
    if (characters < toolOutputConstants.toolOutputCutMinimumCharacters.value) return undefined;
    const cut = cutTo(whole, characters, options);
    if (cut.tokens <= availableTokens) return cut;
    characters = Math.floor(characters * Math.min(0.8, (0.95 * availableTokens) / cut.tokens));
  }
  return undefined;
}

const cutTo = (whole: OutputToFit, characters: number, options: FormOptions): Fitted => {
  const { part, output, name } = whole;
  const text = maskedText(output.text, { characters, name: name() });
  return shorter(whole, { part: withOutput(part, output, text), form: 'cut' }, options);
};

/** How much is left out, and where it is. */
export function markerForm(whole: OutputToFit, options: FormOptions): Fitted {
  const fitted = cutTo(whole, 0, options);
  return fitted.form === 'cut' ? { ...fitted, form: 'marker' } : fitted;
}

/** The call that reads the output back. Without a blob: one word. */
export function pointerForm(whole: OutputToFit, options: FormOptions): Fitted {
  const name = whole.name();
  return name === undefined ? whole.emptied : pointerTo(name, whole, options);
}

/** The call that reads the output back from `name`; fields beside the output go. */
function pointerTo(name: string, whole: OutputToFit, options: FormOptions): Fitted {
  const { part, output } = whole;
  const bare = { ...output, others: {} };
  const pointing = withOutput(part, bare, pointerText(name));
  return shorter(whole, { part: pointing, form: 'pointer' }, options);
}

/** One word. An output that is shorter itself stays, as with the other forms. */
export const emptiedForm = (whole: Omit<OutputToFit, 'emptied'>, options: FormOptions): Fitted =>
  shorter(whole, { part: emptiedResponse(whole.part), form: 'emptied' }, options);

/** Words around a short output can cost more than the output: then it stays as it is. */
function shorter(
  whole: Pick<OutputToFit, 'part' | 'tokens'>,
  made: { part: Part; form: Form },
  { rule }: FormOptions,
): Fitted {
  const tokens = estimatePartTokens(made.part, rule);
  return tokens < whole.tokens
    ? { ...made, tokens }
    : { part: whole.part, tokens: whole.tokens, form: 'whole' };
}
