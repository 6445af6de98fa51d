import type { Content } from '../conversation/content.ts';
import type { Mask } from '../conversation/history.ts';
import type { Turn } from '../conversation/turn.ts';
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

function plannedMasks(
  place: PlacedContent,
  shortened: Content | undefined,
  options: { counting: TokenCounting; blobName: (text: string) => string },
): PlannedMask[] {
  return place.content.parts.flatMap((part, partIndex) => {
    const masked = shortened?.parts[partIndex];
    const output = toolOutputOf(part);
    if (masked === undefined || masked === part || output === undefined) return [];
    return [
      {
        seq: place.seq,
        contentIndex: place.contentIndex,
        partIndex,
        part: masked,
        offload: { name: options.blobName(output.text), text: output.text },
        savedTokens:
          estimatePartTokens(part, options.counting) - estimatePartTokens(masked, options.counting),
      },
    ];
  });
}

/** As many as fit into the document, newest first. */
function withinDocument(masks: readonly PlannedMask[]): PlannedMask[] {
  let characters = 0;
  return masks
    .toReversed()
    .filter(({ part }) => (characters += JSON.stringify(part).length) <= MASKS_CHARACTERS)
    .toReversed();
}

/**
 * The tool outputs of `turns` (oldest first) that the budget shortens, always from the full texts, so
 * that a later generation never masks a mask. Empty when all are within the budget.
 */
export function planMasks(input: {
  turns: readonly Turn[];
  budgetTokens: number;
  counting: TokenCounting;
  blobName: (text: string) => string;
}): PlannedMask[] {
  const { turns, budgetTokens, counting, blobName } = input;
  const places = turns.flatMap(({ seq, user, contents }) =>
    [user, ...contents].map((content, contentIndex): PlacedContent => ({
      seq,
      contentIndex,
      content,
    })),
  );
  const { contents } = applyToolOutputBudget({
    contents: places.map(({ content }) => content),
    budgetTokens,
    rule: counting,
    blobName,
  });
  return withinDocument(
    places.flatMap((place, index) => plannedMasks(place, contents[index], { counting, blobName })),
  );
}

/** The masks as the history document holds them. */
export const storedMasks = (masks: readonly PlannedMask[]): Mask[] =>
  masks.map(({ seq, contentIndex, partIndex, part }) => ({ seq, contentIndex, partIndex, part }));
