import type { Part } from '#shared/conversation/documents/content.ts';
import { findErrorBlocks, tellsOfError } from './error-blocks.ts';
import { indexFacts, isHeld, keyOfReadings, type FactIndex } from '../facts/index/fact-index.ts';
import { foldWidth } from '#shared/text/plain-text.ts';
import { scanReferences } from '../facts/index/fact-finders.ts';
import { unsupportedIn } from '../facts/index/unsupported.ts';
import { snapshotConstants } from '#shared/compaction/snapshot-constants.ts';
import type { PlannedMask } from './tail-masks.ts';
import {
  estimatePartTokens,
  estimateTextTokens,
  type TokenCounting,
} from '#shared/tokens/token-estimate.ts';
import type { Offload } from './tool-output-budget.ts';
import { toolOutputConstants } from './tool-output-constants.ts';
import { condensedLabel, toToolOutput, withOutput, type ToolOutput } from './tool-output-mask.ts';

/** A shortened output that a model may condense. */
export interface CondensableOutput {
  mask: PlannedMask;
  /** As it is shown now: what a condensed one must not be larger than. */
  shown: { part: Part; output: ToolOutput };
  offload: Offload;
  /** What tells of errors and warnings in the full text; stays word for word. */
  errorBlocks: readonly string[];
  /** What the model may write, so that its label and the errors still fit. */
  maximumCharacters: number;
}

export type Condensed =
  | { ok: true; mask: PlannedMask }
  | { ok: false; reason: 'EMPTY' | 'INVENTED' | 'ERROR_REWORDED' | 'TOO_LONG' };

const ERRORS_HEADING = 'Errors and warnings, word for word:';

function framed(offload: Offload, body: string, errorBlocks: readonly string[]): string {
  const missing = errorBlocks.filter((block) => !body.includes(block));
  const errors = missing.length === 0 ? [] : [ERRORS_HEADING, ...missing];
  return [condensedLabel(offload.name, offload.text), body, ...errors].join('\n');
}

interface Limits {
  counting: TokenCounting;
  /** Of the model that condenses. */
  windowTokens: number;
  /** Shorter outputs are left alone; default: twice the cap of one. */
  fromCharacters?: number;
}

function condensableOutput(mask: PlannedMask, limits: Limits): CondensableOutput | undefined {
  const { part, offload, condensed } = mask;
  const output = part && toToolOutput(part);
  if (!part || !output || !offload || condensed !== undefined) return undefined;
  const { text } = offload;
  const { condensedFromCharacters, condensedToCharacters } = toolOutputConstants;
  const { fromCharacters = condensedFromCharacters.value } = limits;
  const isLong = text.length > fromCharacters && text.length <= condensedToCharacters.value;
  const room = output.text.length;
  if (!isLong || room < toolOutputConstants.condensedRoomCharacters.value) return undefined;
  const readTokens = snapshotConstants.summariserPartialFraction.value * limits.windowTokens;
  if (estimateTextTokens(text, limits.counting) > readTokens) return undefined;
  const errorBlocks = findErrorBlocks(text);
  const errorCharacters = errorBlocks.join('\n').length;
  // Where the errors are most of what can be shown, a cut shows more of what is around them.
  if (errorCharacters > toolOutputConstants.toolOutputErrorFraction.value * room) return undefined;
  const maximumCharacters = room - framed(offload, '', errorBlocks).length;
  return { mask, shown: { part, output }, offload, errorBlocks, maximumCharacters };
}

/**
 * The shortened outputs that are worth asking a model about, largest first, at most three: very long ones
 * that a cut shows little of, that the model with `windowTokens` can read, and that were not tried before.
 */
export function outputsToCondense(
  masks: readonly PlannedMask[],
  limits: Limits,
): CondensableOutput[] {
  return masks
    .flatMap((mask) => condensableOutput(mask, limits) ?? [])
    .toSorted((a, b) => b.offload.text.length - a.offload.text.length)
    .slice(0, toolOutputConstants.condensedOutputLimit.value);
}

function inventsPath(body: string, index: FactIndex): boolean {
  const folded = foldWidth(body);
  return scanReferences(folded).some(
    ({ kind, start, end, readings }) =>
      kind === 'path' &&
      !isHeld({ kind, key: keyOfReadings(readings), text: folded.slice(start, end) }, index),
  );
}

const bullet = /^\s*(?:[-*•]\s+)?/u;

const rewordsError = (body: string, text: string): boolean =>
  body
    .split('\n')
    .filter(tellsOfError)
    .some((line) => !text.includes(line.replace(bullet, '').trimEnd()));

/**
 * The mask with what a model made of the full text in the place of the cut, if code finds it good: no larger than
 * the cut, so that the budget holds; no number, identifier, link, path or quote that the full text does not
 * have; every line on errors as it stands there. Errors and warnings that it left out are added, whole. Costs
 * about 1.5 s for a million characters.
 */
export function checkCondensed(
  target: CondensableOutput,
  answer: string,
  counting: TokenCounting,
): Condensed {
  const { mask, shown, offload, errorBlocks } = target;
  const body = answer.toWellFormed().trim();
  if (body === '') return { ok: false, reason: 'EMPTY' };
  const text = framed(offload, body, errorBlocks);
  const part = withOutput(shown.part, shown.output, text);
  const moreTokens = estimatePartTokens(part, counting) - estimatePartTokens(shown.part, counting);
  if (text.length > shown.output.text.length || moreTokens > 0)
    return { ok: false, reason: 'TOO_LONG' };
  if (rewordsError(body, offload.text)) return { ok: false, reason: 'ERROR_REWORDED' };
  const index = indexFacts([offload.text]);
  if (unsupportedIn(body, index).length > 0 || inventsPath(body, index))
    return { ok: false, reason: 'INVENTED' };
  const savedTokens = mask.savedTokens - moreTokens;
  return { ok: true, mask: { ...mask, part, savedTokens, condensed: true } };
}
