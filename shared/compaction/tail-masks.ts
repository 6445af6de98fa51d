import type { Content, Part } from '../conversation/content.ts';
import type { CoveredThrough } from '../conversation/head.ts';
import type { Mask } from '../conversation/history.ts';
import type { Turn } from '../conversation/turn.ts';
import { isShown } from './shown-turns.ts';
import { estimatePartTokens, type TokenCounting } from './token-estimate.ts';
import { applyToolOutputBudget, type Offload } from './tool-output-budget.ts';
import { toolOutputOf } from './tool-output-mask.ts';

/** A shortened tool output, and the full text that must be stored before the short one is shown. */
export interface PlannedMask extends Mask {
  offload: Offload;
  /** Estimated tokens that it saves, before calibration. */
  savedTokens: number;
}

/** Masks stand in the history document: this much of their JSON leaves it well below 1 MiB. */
const MASKS_CHARACTERS = 200_000;

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
  return {
    ...mask,
    offload: { name: blobName(output.text), text: output.text },
    savedTokens: estimatePartTokens(part, counting) - estimatePartTokens(mask.part, counting),
  };
}

function plannedMasks(
  place: PlacedContent,
  shortened: Content | undefined,
  options: MaskOptions,
): PlannedMask[] {
  const { seq, contentIndex } = place;
  return place.content.parts.flatMap((part, partIndex) => {
    const masked = shortened?.parts[partIndex];
    if (masked === undefined || masked === part) return [];
    return plannedMask(part, { seq, contentIndex, partIndex, part: masked }, options) ?? [];
  });
}

/** The masks that stand already, of what is still shown. */
function standingMasks(
  places: readonly PlacedContent[],
  standing: readonly Mask[],
  options: MaskOptions,
): PlannedMask[] {
  return places.flatMap((place) =>
    standing
      .filter(({ seq, contentIndex }) => seq === place.seq && contentIndex === place.contentIndex)
      .flatMap((mask) => {
        const part = place.content.parts[mask.partIndex];
        return (part && plannedMask(part, mask, options)) ?? [];
      }),
  );
}

const savedBy = (masks: readonly PlannedMask[]) =>
  masks.reduce((sum, { savedTokens }) => sum + savedTokens, 0);

/** As many as fit into the document, newest first. */
function withinDocument(masks: readonly PlannedMask[]): PlannedMask[] {
  let characters = 0;
  return masks
    .toReversed()
    .filter(({ part }) => (characters += JSON.stringify(part).length) <= MASKS_CHARACTERS)
    .toReversed();
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
  const places = turns
    .flatMap(({ seq, user, contents }) =>
      [user, ...contents].map((content, contentIndex): PlacedContent => ({
        seq,
        contentIndex,
        content,
      })),
    )
    .filter((place) => isShown(place, coveredThrough));
  const { contents } = applyToolOutputBudget({
    contents: places.map(({ content }) => content),
    budgetTokens,
    rule: counting,
    blobName,
  });
  const planned = withinDocument(
    places.flatMap((place, index) => plannedMasks(place, contents[index], options)),
  );
  const standing = standingMasks(places, input.standing, options);
  const gainTokens = savedBy(planned) - savedBy(standing);
  return standing.length > 0 && gainTokens < input.minimumGainTokens ? standing : planned;
}

/** The masks as the history document holds them. */
export const storedMasks = (masks: readonly PlannedMask[]): Mask[] =>
  masks.map(({ seq, contentIndex, partIndex, part }) => ({ seq, contentIndex, partIndex, part }));
