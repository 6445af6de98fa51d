import type { Content, Part } from '../conversation/content.ts';
import type { CoveredThrough } from '../conversation/head.ts';
import type { Mask } from '../conversation/history.ts';
import type { Turn } from '../conversation/turn.ts';
import { emptiedResponse } from '../conversation/emptied-response.ts';
import { storedMask, withinDocument } from './masks-within-document.ts';
import { isShown } from './shown-turns.ts';
import { estimatePartTokens, type TokenCounting } from './token-estimate.ts';
import {
  applyToolOutputBudget,
  type Offload,
  type ToolOutputBudgetResult,
} from './tool-output-budget.ts';
import { toolOutputOf } from './tool-output-mask.ts';

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

interface MaskOptions {
  counting: TokenCounting;
  blobName: (text: string) => string;
}

/** A mask with what it saves and the text that it stands for; undefined for what is no tool output. */
function plannedMask(part: Part, mask: Mask, options: MaskOptions): PlannedMask | undefined {
  const output = toolOutputOf(part);
  if (output === undefined) return undefined;
  const { counting, blobName } = options;
  const shown = mask.part ?? emptiedResponse(part);
  return {
    ...mask,
    ...(mask.part && { offload: { name: blobName(output.text), text: output.text } }),
    savedTokens: estimatePartTokens(part, counting) - estimatePartTokens(shown, counting),
  };
}

/** A part that the budget shortened, and what shows in its place; nothing: one word. */
interface MaskedPart {
  part: Part;
  place: Omit<Mask, 'part' | 'condensed'>;
  shown?: Part;
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
      return [emptied.has(shown) ? { part, place } : { part, place, shown }];
    }),
  );
}

/** The masks of what the budget shortened, as far as the document holds them. */
function plannedMasks(masked: readonly MaskedPart[], options: MaskOptions): PlannedMask[] {
  const least = masked.flatMap(({ part, place }) => plannedMask(part, place, options) ?? []);
  const planned = masked.flatMap(
    ({ part, place, shown }) =>
      plannedMask(part, { ...place, ...(shown && { part: shown }) }, options) ?? [],
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
  const places = turns
    .flatMap(({ seq, user, contents }) =>
      [user, ...contents].map((content, contentIndex): PlacedContent => ({
        seq,
        contentIndex,
        content,
      })),
    )
    .filter((place) => isShown(place, coveredThrough));
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
