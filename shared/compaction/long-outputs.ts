import type { Part, Content } from '#shared/conversation/documents/content.ts';
import { estimatePartTokens, type TokenCounting } from '#shared/tokens/token-estimate.ts';
import type { PlannedMask } from './tool-output-budget.ts';
import { toToolOutput, shortenOutput } from './tool-output-mask.ts';

/**
 * The outputs of a turn's newest round that prompts would show cut, in the shape in which a compaction has those that
 * it shortens: what a model may condense instead. `contents` are those that answer the message.
 */
export function longOutputs(
  contents: readonly Content[],
  options: { seq: number; counting: TokenCounting; blobName: (text: string) => string },
): PlannedMask[] {
  const { seq, counting, blobName } = options;
  // The user content is the first of a turn.
  const contentIndex = contents.length;
  return (contents.at(-1)?.parts ?? []).flatMap((part, partIndex) => {
    const output = part.condensed === undefined ? toToolOutput(part) : undefined;
    const shown = shortenOutput(part, { blobName, counting });
    if (output === undefined || shown === part) return [];
    const savedTokens = estimatePartTokens(part, counting) - estimatePartTokens(shown, counting);
    const offload = { name: blobName(output.text), text: output.text };
    return [{ seq, contentIndex, partIndex, part: shown, offload, savedTokens }];
  });
}

/** The contents with what a model made of outputs of the newest round beside them, by part. */
export function withCondensed(
  contents: readonly Content[],
  condensed: ReadonlyMap<number, string>,
): Content[] {
  const last = contents.at(-1);
  if (last === undefined) return [];
  const beside = (part: Part, index: number): Part => {
    const text = condensed.get(index);
    return text === undefined ? part : { ...part, condensed: text };
  };
  return [...contents.slice(0, -1), { ...last, parts: last.parts.map(beside) }];
}
