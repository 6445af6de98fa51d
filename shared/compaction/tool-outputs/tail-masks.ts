import {
  hasFunctionResponse,
  type Content,
  type Part,
} from '#shared/conversation/documents/content.ts';
import type { CoveredThrough } from '#shared/conversation/documents/conversation.ts';
import type { Mask } from '#shared/conversation/documents/history.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { emptiedResponse } from '#shared/conversation/context/tool-calls.ts';
import { storedMask, withinDocument } from './masks-within-document.ts';
import { isShown } from '../summariser/shown-turns.ts';
import { estimatePartTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import {
  applyToolOutputBudget,
  type Offload,
  type ToolOutputBudgetResult,
} from './tool-output-budget.ts';
import { toToolOutput } from './tool-output-mask.ts';

/** A shortened tool output, and the full text that must be stored before the short one is shown. */
export interface PlannedMask extends Mask {
  /** Absent where nothing names it: one word stands for the output. */
  offload?: Offload;
  /** Estimated tokens that it saves, before calibration. */
  savedTokens: number;
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

interface MaskOptions {
  counting: TokenCounting;
  blobName: (text: string) => string;
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

/** A part that the budget shortened, and what shows in its place. */
interface MaskedPart {
  part: Part;
  place: Omit<Mask, 'part' | 'condensed'>;
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

const placeOf = ({ seq, contentIndex }: Pick<Mask, 'seq' | 'contentIndex'>) =>
  `${seq}/${contentIndex}`;

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

/** The planned masks, but what a model has condensed as it stands where it is no longer, and what it tried in vain. */
function withCondensed(
  planned: readonly PlannedMask[],
  standing: readonly PlannedMask[],
): PlannedMask[] {
  const tried = new Map(
    standing
      .filter(({ condensed }) => condensed !== undefined)
      .map((mask) => [`${placeOf(mask)}/${mask.partIndex}`, mask]),
  );
  return planned.map((mask) => {
    const before = tried.get(`${placeOf(mask)}/${mask.partIndex}`);
    if (before?.condensed === false) return { ...mask, condensed: false };
    return before && before.savedTokens >= mask.savedTokens ? before : mask;
  });
}

const savedBy = (masks: readonly PlannedMask[]) =>
  masks.reduce((sum, { savedTokens }) => sum + savedTokens, 0);

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
  const planned = withCondensed(plannedMasks(maskedParts(places, fitted), options), standing);
  const gainTokens = savedBy(planned) - savedBy(standing);
  return standing.length > 0 && gainTokens < input.minimumGainTokens ? standing : planned;
}

/** The masks as the history document holds them. */
export const storedMasks = (masks: readonly PlannedMask[]): Mask[] => masks.map(storedMask);
