import type { ContextTexts } from '#shared/wire/resources/context-object.ts';
import { outcomeTexts, type OutcomeTexts } from './outcome-texts.ts';
import { isUnpaid, outcomeStateSchema, type OutcomeState } from './outcome.ts';
import { policyConstants } from './policy-constants.ts';

interface OutcomeToTell {
  /** An `OutcomeState`; one of a later version is told neutrally. */
  state: string;
  beforeTokens: number;
  afterTokens: number;
  reason?: string | undefined;
}

/**
 * The sentence that tells a person how a compaction stands or ended, in the language of `locale`
 * (English, Korean, Japanese, Chinese; others get English), with figures in that language's form. Never an error
 * tone: a compaction that did not happen costs the user nothing.
 */
export function outcomeMessage(outcome: OutcomeToTell, locale?: string): string {
  const { language, texts } = outcomeTexts(locale);
  const figures = figuresOf(language);
  return texts[textKey(outcome)]
    .replace('{before}', figures.format(outcome.beforeTokens))
    .replace('{after}', figures.format(outcome.afterTokens));
}

/** What outcomes and contexts say to a person, in the language of `locale`. */
export const contextTexts = (locale?: string): ContextTexts => ({
  outcome: (record) => outcomeMessage(record, locale),
  leftOut: ({ turns, remedy }) => {
    const { language, texts } = outcomeTexts(locale);
    const text = remedy === 'wait' ? texts.leftOutForNow : texts.leftOut;
    return text.replace('{turns}', figuresOf(language).format(turns));
  },
});

/** A format takes much longer to make than to use; there are as many as translations. */
const figuresByLanguage = new Map<string, Intl.NumberFormat>();

function figuresOf(language: string): Intl.NumberFormat {
  const figures = figuresByLanguage.get(language) ?? new Intl.NumberFormat(language);
  figuresByLanguage.set(language, figures);
  return figures;
}

function textKey(outcome: OutcomeToTell): keyof OutcomeTexts {
  const otherState = textByOtherState.get(outcome.state);
  if (otherState) return otherState;
  const state = outcomeStateSchema.safeParse(outcome.state);
  if (!state.success) return 'nothingToDo';
  if (state.data === 'NOOP' || isUnpaid(outcome.reason))
    return textByNoopReason.get(outcome.reason ?? '') ?? 'nothingToDo';
  if (state.data === 'FAILED_ERROR' && outcome.reason === 'TURN_TOO_LARGE') return 'turnTooLarge';
  if (outcome.reason === 'TURNS_BLOCKED') return 'turnsBlocked';
  if (outcome.reason === 'SAVES_TOO_LITTLE') return 'savesTooLittle';
  const isSmall = outcome.beforeTokens < policyConstants.inflatedMessageTokens.value;
  if (state.data === 'FAILED_INFLATED_TOKEN_COUNT' && isSmall) return 'notBeneficial';
  return textByState[state.data];
}

const textByState: Readonly<Record<OutcomeState, keyof OutcomeTexts>> = {
  QUEUED: 'onItsWay',
  RUNNING: 'onItsWay',
  VERIFYING: 'onItsWay',
  COMPACTED: 'compacted',
  NOOP: 'nothingToDo',
  CONTENT_TRUNCATED: 'truncated',
  FAILED_INFLATED_TOKEN_COUNT: 'notReduced',
  FAILED_TOKEN_COUNT_ERROR: 'notCounted',
  FAILED_EMPTY_SUMMARY: 'emptySummary',
  FAILED_VERIFICATION: 'notVerified',
  FAILED_ERROR: 'failed',
  ABORTED: 'aborted',
  SUPERSEDED: 'superseded',
};

/** Why there was nothing to do, where the reason says it. */
const textByNoopReason: ReadonlyMap<string, keyof OutcomeTexts> = new Map([
  ['BELOW_THRESHOLD', 'belowThreshold'],
  ['TOO_SHORT', 'tooShort'],
  ['NOTHING_TO_FOLD', 'nothingToFold'],
  ['SAVES_TOO_LITTLE', 'nothingToFold'],
  ['NOT_ARMED', 'notArmed'],
  ['DECLINED', 'notArmed'],
  ['NO_PROGRESS', 'notArmed'],
  ['BREAKER_OPEN', 'paused'],
  ['SPEND_LIMIT', 'paused'],
  ['SWITCHED_OFF', 'switchedOff'],
  ['VETOED', 'vetoed'],
  ['MESSAGE_BLOCKED', 'messageBlocked'],
  ['INSTRUCTION_BLOCKED', 'blockNotFound'],
  ['BLOCK_NOT_FOUND', 'blockNotFound'],
  ['USER_DAILY_USD', 'waitsForUser'],
  ['GLOBAL_BUDGET', 'waitsForAll'],
]);

/** Generations that no compaction made. */
const textByOtherState: ReadonlyMap<string, keyof OutcomeTexts> = new Map([
  ['RESTORED', 'restored'],
  ['CHANGED', 'changed'],
]);
