import { memoryTokens, type MemoryTexts } from './memory-texts.ts';
import { sentOutputs, type OutputForms } from '#shared/conversation/context/sent-view.ts';
import { nothingCovered } from '#shared/conversation/documents/conversation.ts';
import {
  estimatePartTokens,
  estimateTextTokens,
  estimateContentTokens,
} from '#shared/tokens/token-estimate.ts';
import { hasFunctionResponse, type Content, type Part } from '#shared/models/content.ts';
import type {
  ContextMeter,
  Conversation,
  Pin,
  measuredSchema,
  CoveredThrough,
} from '../documents/conversation.ts';
import type { History } from '../documents/history.ts';
import type { Turn, TurnUsage } from '../documents/turn.ts';
import {
  ACKNOWLEDGEMENT,
  itemsOfTurns,
  type ShownTurn,
  type ContextSource,
} from './assemble-context.ts';
import { leftOutParts } from './left-out-files.ts';
import { pinTokens } from './pins.ts';
import type { z } from 'zod';

/** Weight of a new report in the moving average, and its bounds: a wild report moves it little. */
const CALIBRATION_ALPHA = 0.2;
const CALIBRATION_MIN = 0.5;
export const CALIBRATION_MAX = 2;

/** What the meter looks at of a turn. */
export type MeteredTurn = ShownTurn & Pick<Turn, 'tokens'>;

interface MeterSource {
  conversation: Pick<Conversation, 'context' | 'generation' | 'pins'>;
  history: History | undefined;
  /** As the prefix shows it; absent: as it was when the last turn finished. */
  memory?: MemoryTexts | undefined;
  /** The terminal turns of the tail. */
  turns: readonly MeteredTurn[];
}

const hasOutputs = ({ user, contents }: MeteredTurn) =>
  [user, ...contents].some(hasFunctionResponse);

interface Shown {
  history: MeterSource['history'];
  turns: readonly MeteredTurn[];
}

/** Those turns that have tool outputs, as the context shows them. */
const outputItems = ({ history, turns }: Shown) =>
  itemsOfTurns({
    coveredThrough: history?.coveredThrough ?? nothingCovered,
    turns: turns.filter(hasOutputs),
  });

/** Uncalibrated tokens of all parts but tool outputs. */
const tokensBesideOutputs = (parts: readonly Part[], { counting }: OutputForms): number =>
  parts
    .filter((part) => part.functionResponse === undefined)
    .reduce((sum, part) => sum + estimatePartTokens(part, counting), 0);

/**
 * Uncalibrated tokens of turns without their tool outputs: from the counts that were stored with them, and of those
 * with outputs, whose counts are of the whole turn, weighed anew.
 */
function wordTokens({ history, turns }: Shown, forms: OutputForms): number {
  const leftOut = leftOutParts(turns);
  const shown = turns.filter(({ inContext }) => inContext);
  const withoutOutputs = shown.filter((turn) => !hasOutputs(turn));
  const stored = withoutOutputs.reduce(
    (sum, turn) => sum + shownTokens(turn, history?.coveredThrough),
    0,
  );
  const leftOutFiles = withoutOutputs.flatMap(({ user }) =>
    user.parts.filter((part) => leftOut.has(part)),
  );
  const besideOutputs = outputItems({ history, turns: shown }).flatMap(
    ({ content }) => content.parts,
  );
  return (
    stored - tokensBesideOutputs(leftOutFiles, forms) + tokensBesideOutputs(besideOutputs, forms)
  );
}

/** Uncalibrated tokens of the tool outputs of turns, in the forms in which they are sent. */
const outputTokens = (shown: Shown, forms: OutputForms): number =>
  sentOutputs(outputItems(shown), forms).tokens;

/** A figure of a whole prompt, and what it is about. */
type Measured = z.infer<typeof measuredSchema> & Pick<ContextMeter, 'tokens'>;

/** What the swap counted that made this generation; undefined: none did, or it is not known. */
const countedBySwap = ({ conversation, history }: MeterSource): Measured | undefined =>
  history?.counted && history.generation === conversation.generation
    ? { ...history.counted, tokens: history.afterTokens }
    : undefined;

/** The last figure of this generation that a model gave: its report of a turn, else the count of the swap. */
function measuredOf(source: MeterSource): Measured | undefined {
  const { context, generation } = source.conversation;
  const isReported = context.generation === generation && context.source !== 'estimated';
  return isReported ? context : countedBySwap(source);
}

/**
 * Uncalibrated tokens that pins and memory add to a context: their own and, where no snapshot has one
 * already, those of the acknowledgement. The same measure as that of the turns' stored counts.
 */
export function pinnedTokens(
  pins: readonly Pin[],
  history: Pick<History, 'snapshotText'> | undefined,
  ofMemory = 0,
): number {
  if (pins.length === 0 && ofMemory === 0) return 0;
  const hasSnapshot = (history?.snapshotText ?? '') !== '';
  const acknowledgement = hasSnapshot ? 0 : estimateTextTokens(ACKNOWLEDGEMENT, 'character-class');
  return pinTokens(pins) + ofMemory + acknowledgement;
}

/** Of pins and memory, as the meter stores them. */
function standingTokens(source: MeterSource): { pinTokens: number; memoryTokens: number } {
  const ofMemory = source.memory
    ? memoryTokens(source.memory)
    : ((measuredOf(source) ?? source.conversation.context).memoryTokens ?? 0);
  return {
    pinTokens: pinnedTokens(source.conversation.pins, source.history, ofMemory),
    memoryTokens: ofMemory,
  };
}

/** Uncalibrated estimate of memory, pins, snapshot and tail as the next prompt has them. */
const estimatedContentTokens = (source: MeterSource, forms: OutputForms): number =>
  standingTokens(source).pinTokens +
  (source.history?.snapshotTokens ?? 0) +
  wordTokens(source, forms) +
  outputTokens(source, forms);

/** A measured figure with an estimate for what came after it, for outputs that take another form since, for pins and notes. */
function grownTokens(source: MeterSource, measured: Measured, forms: OutputForms): number {
  const { conversation, history, turns } = source;
  const later = turns.filter(({ seq }) => seq > measured.seq);
  const then = turns.filter(({ seq }) => seq <= measured.seq);
  const outputsThen = measured.outputTokens ?? outputTokens({ history, turns: then }, forms);
  const moreTokens =
    wordTokens({ history, turns: later }, forms) +
    (outputTokens(source, forms) - outputsThen) +
    (standingTokens(source).pinTokens - (measured.pinTokens ?? 0));
  return Math.max(0, Math.ceil(measured.tokens + conversation.context.calibration * moreTokens));
}

/**
 * Tokens of the present context as the next prompt has it, system instruction and tools included, but for what is left
 * out over the hard threshold: tool outputs count in the forms in which they are sent. The model's own report while it
 * is about this generation, else what the swap counted that made it, plus an estimate for what came after; where neither
 * is known everything is estimated.
 */
export function contextTokens(
  source: MeterSource,
  forms: OutputForms,
): { tokens: number; source: ContextMeter['source'] } {
  const { overheadTokens, calibration } = source.conversation.context;
  const measured = measuredOf(source);
  if (measured) return { tokens: grownTokens(source, measured, forms), source: measured.source };
  return {
    tokens: Math.ceil(overheadTokens + calibration * estimatedContentTokens(source, forms)),
    source: 'estimated',
  };
}

/** What the model reported of a call: prompt and answer, and what of the turn they were. */
export interface ReportedCall {
  tokens: number;
  /** Contents of the turn in the prompt, and the answer. */
  contents: number;
  /** Uncalibrated, of all tool outputs as the prompt had them. */
  outputTokens: number;
}

/**
 * Tokens of the next prompt of a turn that is being answered, `turn` the last of the source's: what the model reported
 * of the call before, and an estimate for what came after it. Nothing reported: as a context with this turn.
 */
export function roundTokens(
  source: MeterSource & { turn: MeteredTurn },
  forms: OutputForms,
  reported: ReportedCall | undefined,
): number {
  const { conversation, turn, history } = source;
  const turns = [...source.turns, turn];
  if (!reported) return contextTokens({ ...source, turns }, forms).tokens;
  const newParts = turn.contents.slice(reported.contents).flatMap(({ parts }) => parts);
  const words = tokensBesideOutputs(newParts, forms);
  const outputs = outputTokens({ history, turns }, forms) - reported.outputTokens;
  return Math.max(
    0,
    Math.ceil(reported.tokens + conversation.context.calibration * (words + outputs)),
  );
}

export function nextCalibration(
  calibration: number,
  observed: { reportedTokens: number; estimatedTokens: number },
): number {
  if (observed.estimatedTokens <= 0 || observed.reportedTokens <= 0) return calibration;
  const ratio = observed.reportedTokens / observed.estimatedTokens;
  const bounded = Math.min(CALIBRATION_MAX, Math.max(CALIBRATION_MIN, ratio));
  return (1 - CALIBRATION_ALPHA) * calibration + CALIBRATION_ALPHA * bounded;
}

/** The meter after a finished turn: as reported where the model reported, else estimated. */
export function meterAfterTurn(
  turn: {
    before: MeterSource;
    /** This turn as it ended. */
    own: MeteredTurn;
    /** Uncalibrated estimates. */
    overheadTokens: number;
    /** What the call showed beside the message, and no later one shows again by itself. */
    transientTokens?: number;
    /** Of what came of the last call. */
    answerTokens: number;
    /** What the model reported of the last call; absent also where its prompt was not the context. */
    usage: TurnUsage | undefined;
  },
  forms: OutputForms,
): ContextMeter {
  const { before, own: ended, usage, transientTokens = 0 } = turn;
  const { context, generation } = before.conversation;
  const after = { ...before, turns: [...before.turns, { ...ended, inContext: true }] };
  const estimate = turn.overheadTokens + estimatedContentTokens(after, forms);
  const outputs = outputTokens(after, forms);
  const standing = standingTokens(before);
  const base = {
    generation,
    seq: ended.seq,
    ...(standing.pinTokens > 0 && { pinTokens: standing.pinTokens }),
    ...(standing.memoryTokens > 0 && { memoryTokens: standing.memoryTokens }),
    ...(outputs > 0 && { outputTokens: outputs }),
  };
  if (usage === undefined || usage.promptTokens <= 0) {
    const counted = countedBySwap(after);
    return {
      ...base,
      tokens: counted
        ? grownTokens(after, counted, forms)
        : Math.ceil(context.calibration * estimate),
      overheadTokens: Math.ceil(context.calibration * turn.overheadTokens),
      calibration: context.calibration,
      source: counted?.source ?? 'estimated',
    };
  }
  const calibration = nextCalibration(context.calibration, {
    reportedTokens: usage.promptTokens,
    estimatedTokens: estimate - turn.answerTokens + transientTokens,
  });
  const tokens = usage.promptTokens + usage.outputTokens - Math.ceil(calibration * transientTokens);
  return {
    ...base,
    tokens: Math.max(0, tokens),
    overheadTokens: Math.ceil(calibration * turn.overheadTokens),
    calibration,
    source: 'reported',
  };
}

/** What the count of a context's prompt is about, so that the meter can go on from it; `seq`: the last turn in it. */
export function countedContext(
  context: ContextSource,
  forms: OutputForms,
  counted: Pick<NonNullable<History['counted']>, 'source' | 'seq'>,
): NonNullable<History['counted']> {
  const memory = context.memory ? memoryTokens(context.memory) : 0;
  return {
    ...counted,
    pinTokens: pinnedTokens(context.pins, context.history, memory),
    memoryTokens: memory,
    outputTokens: sentOutputs(itemsOfTurns(context), forms).tokens,
  };
}

const tokensOf = (contents: readonly Content[]) =>
  contents.reduce((sum, content) => sum + estimateContentTokens(content, 'character-class'), 0);

/**
 * Uncalibrated tokens of what the context shows of a turn, from the counts that were stored with it. Of one
 * that is folded inside, the answer counts by the share of it that still stands.
 */
function shownTokens(
  turn: Pick<Turn, 'seq' | 'contents' | 'tokens'>,
  covered: CoveredThrough | undefined,
): number {
  const { tokens, contents, seq } = turn;
  if (covered === undefined || covered.contentIndex === 0 || covered.seq !== seq)
    return tokens.user + tokens.answer;
  const whole = tokensOf(contents);
  const share = whole === 0 ? 1 : tokensOf(contents.slice(covered.contentIndex)) / whole;
  return tokens.user + Math.ceil(share * tokens.answer);
}
