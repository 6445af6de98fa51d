import { emptiedResponse, toToolOutput } from '#shared/conversation/context/tool-calls.ts';
import {
  type Content,
  type Part,
  hasFunctionResponse,
} from '#shared/conversation/documents/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import type { Mask } from '#shared/conversation/documents/history.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { once } from '#shared/once.ts';
import { utf8Length } from '#shared/store/names.ts';
import type { TokenRule } from '#shared/tokens/text-weight.ts';
import { estimatePartTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import { toolOutputConstants } from './constants.ts';
import {
  emptiedForm,
  longestForm,
  markerForm,
  pointerForm,
  type Fitted,
  type OutputToFit,
} from './shorten-output.ts';
import { isShown } from './shown-turns.ts';

// All outputs within a budget

export interface ToolOutputBudgetInput {
  contents: readonly Content[];
  /** For all tool outputs together. */
  budgetTokens: number;
  rule: TokenRule | TokenCounting;
  /** The name under which the caller will store this text (a hash of it); absent: it is not stored. */
  blobName?: (text: string) => string;
}

interface ToolOutputBudgetResult {
  /** Contents that have not changed are the same objects. */
  contents: Content[];
  /** Those parts of `contents` that say one word in the place of an output, and name no text. */
  emptied: ReadonlySet<Part>;
  /** Tokens of all tool outputs, by `rule`. */
  tokensBefore: number;
  tokensAfter: number;
}

/**
 * Shortens tool outputs until all of them together cost at most `budgetTokens`, keeping the newest
 * whole. What each older output needs at least is set aside first: a marker with its length and its blob;
 * for the oldest, where markers would take more than three quarters of the budget, only the call that reads the
 * blob; where these would too, one word. So the total is exceeded only where one word for each output (or the
 * output, if that is shorter) costs more: then that is the total. Returns the input when it is within the
 * budget. Pure: the caller stores the full texts that the short forms name.
 */
export function applyToolOutputBudget(input: ToolOutputBudgetInput): ToolOutputBudgetResult {
  const { contents, budgetTokens, rule, blobName } = input;
  const responses = responsesNewestFirst(input);
  const tokensBefore = total(responses);
  if (tokensBefore <= budgetTokens)
    return {
      contents: [...contents],
      emptied: new Set<Part>(),
      tokensBefore,
      tokensAfter: tokensBefore,
    };

  const outputs = responses.flatMap((one) => outputToFit(one, { rule, blobName }));
  const fitted = fitAll(outputs, budgetTokens, rule);
  const pairs = outputs.flatMap((one, index) => {
    const shown = fitted[index];
    return shown && shown.form !== 'whole' ? [{ one, shown }] : [];
  });
  return {
    contents: replaceParts(
      contents,
      new Map(pairs.map(({ one, shown }) => [one.part, shown.part])),
    ),
    emptied: new Set(
      pairs.filter(({ shown }) => shown.form === 'emptied').map(({ shown }) => shown.part),
    ),
    tokensBefore,
    tokensAfter: total(fitted),
  };
}

/** A tool's response with the tokens that it takes. */
type SizedResponse = Pick<OutputToFit, 'part' | 'tokens'>;

function responsesNewestFirst({ contents, rule }: ToolOutputBudgetInput): SizedResponse[] {
  const responses = contents.flatMap(({ parts }) =>
    parts
      .filter(({ functionResponse }) => functionResponse !== undefined)
      .map((part) => ({ part, tokens: estimatePartTokens(part, rule) })),
  );
  return responses.toReversed();
}

/** A response with all that its forms are made of. */
function outputToFit(
  response: SizedResponse,
  { rule, blobName }: Pick<ToolOutputBudgetInput, 'rule' | 'blobName'>,
): OutputToFit[] {
  const output = toToolOutput(response.part);
  if (output === undefined) return [];
  const name = once(() => blobName?.(output.text));
  const whole = { ...response, output, name };
  return [{ ...whole, emptied: emptiedForm(whole, rule) }];
}

/** The outputs in the forms in which the newest say most, what the others need at least set aside. */
function fitAll(
  outputs: readonly OutputToFit[],
  budgetTokens: number,
  rule: ToolOutputBudgetInput['rule'],
): Fitted[] {
  const least = setAsideFor(outputs, budgetTokens, rule);
  let setAside = least.reduce((sum, tokens) => sum + tokens, 0);
  let used = 0;
  return outputs.map((output, index) => {
    setAside -= least[index] ?? 0;
    const fitted = longestForm(output, budgetTokens - used - setAside, rule);
    used += fitted.tokens;
    return fitted;
  });
}

/**
 * Tokens that each output needs at least: one word, then, newest first, as much more as names its blob, then
 * as much more as tells its length, within what short forms may take of the budget.
 */
function setAsideFor(
  outputs: readonly OutputToFit[],
  budgetTokens: number,
  rule: ToolOutputBudgetInput['rule'],
): number[] {
  const least = outputs.map(({ emptied }) => emptied.tokens);
  let left =
    toolOutputConstants.toolOutputMarkersFraction.value * budgetTokens -
    least.reduce((sum, tokens) => sum + tokens, 0);
  for (const shortForm of [pointerForm, markerForm])
    for (const [index, output] of outputs.entries()) {
      const now = least[index] ?? 0;
      const { tokens } = shortForm(output, rule);
      if (tokens - now > left) break;
      left -= tokens - now;
      least[index] = tokens;
    }
  return least;
}

function replaceParts(contents: readonly Content[], replaced: ReadonlyMap<Part, Part>): Content[] {
  return contents.map((content) =>
    content.parts.some((part) => replaced.has(part))
      ? { ...content, parts: content.parts.map((part) => replaced.get(part) ?? part) }
      : content,
  );
}

const total = (items: readonly { tokens: number }[]): number =>
  items.reduce((sum, item) => sum + item.tokens, 0);

// The masks of a generation

export interface Offload {
  /** As `blobName` gave it. */
  name: string;
  /** The full text: stored before the shortened contents are. */
  text: string;
}

/** A shortened tool output, and the full text that must be stored before the short one is shown. */
export interface PlannedMask extends Mask {
  /** Absent where nothing names it: one word stands for the output. */
  offload?: Offload;
  /** Estimated tokens that it saves, before calibration. */
  savedTokens: number;
}

interface MaskOptions {
  counting: TokenCounting;
  blobName: (text: string) => string;
}

/**
 * The tool outputs of `turns` (oldest first, behind `coveredThrough`) that the budget shortens, always from
 * the full texts, so that a later generation never masks a mask. The masks that stand stay as they are
 * until new ones would free `minimumGainTokens` more: each change costs the cached prefix. Empty when all
 * outputs are within the budget.
 */
export function planMasks(input: {
  turns: readonly Turn[];
  coveredThrough: CoveredThrough;
  standing: readonly Mask[];
  budgetTokens: number;
  minimumGainTokens: number;
  counting: TokenCounting;
  blobName: (text: string) => string;
}): PlannedMask[] {
  const { turns, coveredThrough, budgetTokens, counting, blobName } = input;
  const options = { counting, blobName };
  const places = placedOutputs(turns, coveredThrough);
  const fitted = applyToolOutputBudget({
    contents: places.map(({ content }) => content),
    budgetTokens,
    rule: counting,
    blobName,
  });
  const standing = standingMasks(places, input.standing, options);
  const planned = plannedMasks(maskedParts(places, fitted), options);
  const gainTokens = savedBy(planned) - savedBy(standing);
  return standing.length > 0 && gainTokens < input.minimumGainTokens ? standing : planned;
}

interface PlacedContent {
  seq: number;
  contentIndex: number;
  content: Content;
}

/** The contents with tool outputs that are still shown, each with its place. */
function placedOutputs(turns: readonly Turn[], coveredThrough: CoveredThrough): PlacedContent[] {
  const places: PlacedContent[] = [];
  const place = (seq: number, contentIndex: number, content: Content): void => {
    if (hasFunctionResponse(content) && isShown({ seq, contentIndex }, coveredThrough))
      places.push({ seq, contentIndex, content });
  };
  for (const { seq, user, contents } of turns) {
    place(seq, 0, user);
    contents.forEach((content, index) => place(seq, index + 1, content));
  }
  return places;
}

/** The masks that stand already, of what is still shown. */
function standingMasks(
  places: readonly PlacedContent[],
  standing: readonly Mask[],
  options: MaskOptions,
): PlannedMask[] {
  const byPlace = Map.groupBy(standing, placeOf);
  return places.flatMap((place) =>
    (byPlace.get(placeOf(place)) ?? []).flatMap((mask) => {
      const part = place.content.parts[mask.partIndex];
      return (part && plannedMask(part, mask, options)) ?? [];
    }),
  );
}

/** A part that the budget shortened, and what shows in its place. */
interface MaskedPart {
  part: Part;
  place: Omit<Mask, 'part'>;
  shown: Part;
  /** One word shows. */
  isEmptied: boolean;
}

function maskedParts(
  places: readonly PlacedContent[],
  { contents, emptied }: Pick<ToolOutputBudgetResult, 'contents' | 'emptied'>,
): MaskedPart[] {
  return places.flatMap(({ seq, contentIndex, content }, index) =>
    content.parts.flatMap((part, partIndex): MaskedPart[] => {
      const shown = contents[index]?.parts[partIndex];
      if (shown === undefined || shown === part) return [];
      const place = { seq, contentIndex, partIndex };
      return [{ part, place, shown, isEmptied: emptied.has(shown) }];
    }),
  );
}

/** The masks of what the budget shortened, as far as the document holds them. */
function plannedMasks(masked: readonly MaskedPart[], options: MaskOptions): PlannedMask[] {
  const { counting } = options;
  const least = masked.map(({ part, place, shown, isEmptied }) =>
    maskShowing(place, { part, shown: isEmptied ? shown : emptiedResponse(part) }, counting),
  );
  const planned = masked.flatMap(
    ({ part, place, shown, isEmptied }, index) =>
      (isEmptied ? least[index] : plannedMask(part, { ...place, part: shown }, options)) ?? [],
  );
  return withinDocument(planned, least);
}

/** A mask with what it saves and the text that it stands for; undefined for what is no tool output. */
function plannedMask(part: Part, mask: Mask, options: MaskOptions): PlannedMask | undefined {
  if (part.functionResponse === undefined) return undefined;
  const { counting, blobName } = options;
  if (!mask.part) return maskShowing(mask, { part, shown: emptiedResponse(part) }, counting);
  const output = toToolOutput(part);
  if (output === undefined) return undefined;
  const offload = { name: blobName(output.text), text: output.text };
  const { savedTokens, ...shown } = maskShowing(mask, { part, shown: mask.part }, counting);
  return { ...shown, offload, savedTokens };
}

/** A mask that shows `shown` in the place of `part`, with what it saves. */
const maskShowing = (
  mask: Mask,
  { part, shown }: { part: Part; shown: Part },
  counting: TokenCounting,
): PlannedMask => ({
  ...mask,
  savedTokens: estimatePartTokens(part, counting) - estimatePartTokens(shown, counting),
});

const placeOf = ({ seq, contentIndex }: Pick<Mask, 'seq' | 'contentIndex'>) =>
  `${seq}/${contentIndex}`;

const savedBy = (masks: readonly PlannedMask[]) =>
  masks.reduce((sum, { savedTokens }) => sum + savedTokens, 0);

// The masks in the history document

/** The masks as the history document holds them. */
export const storedMasks = (masks: readonly PlannedMask[]): Mask[] => masks.map(storedMask);

/** A mask as the history document holds it: without what only its making needs. */
export const storedMask = ({ seq, contentIndex, partIndex, part }: Mask): Mask => ({
  seq,
  contentIndex,
  partIndex,
  ...(part && { part }),
});

/**
 * `masks` (oldest first) as far as the history document has room for them: the newest as they are, then as
 * `least` has them (the same outputs in the same order, in their shortest form), and beyond that none: those
 * outputs stay whole.
 */
export function withinDocument<Kept extends Mask>(
  masks: readonly Kept[],
  least: readonly Kept[],
): Kept[] {
  const leastBytes = least.map(storedBytes);
  let setAside = leastBytes.reduce((sum, bytes) => sum + bytes, 0);
  let left: number = toolOutputConstants.masksBytes.value;
  const kept: Kept[] = [];
  for (let index = masks.length - 1; index >= 0; index--) {
    const [mask, short] = [masks[index], least[index]];
    if (!mask || !short) continue;
    const shortBytes = leastBytes[index] ?? 0;
    setAside -= shortBytes;
    const bytes = mask === short ? shortBytes : storedBytes(mask);
    const isWhole = bytes <= left - setAside;
    if (!isWhole && shortBytes > left) break;
    left -= isWhole ? bytes : shortBytes;
    kept.push(isWhole ? mask : short);
  }
  return kept.toReversed();
}

/** With the comma behind it. */
const storedBytes = (mask: Mask): number => utf8Length(JSON.stringify(storedMask(mask))) + 1;
