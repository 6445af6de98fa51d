import type { MemoryTexts } from './memory-texts.ts';
import { addRepairs, type Repairs } from '#shared/models/repairs.ts';
import type { Prompt, ToolDeclaration } from '#shared/ports/ports.ts';
import type { Content } from '#shared/models/content.ts';
import type { CoveredThrough, Pin } from '../documents/conversation.ts';
import { declaredTools } from '../documents/declared-tools.ts';
import type { History } from '../documents/history.ts';
import { type Turn, shownUser, modelThatAnswered } from '../documents/turn.ts';
import type { RepairedContents } from '../repair/repair-contents.ts';
import {
  hasSignature,
  withOwnSignatures,
  repairHistory,
  sendableTurn,
} from '../repair/repair-prompt.ts';
import { leftOutParts, withoutFiles } from './left-out-files.ts';
import { pinText } from './pins.ts';
import { condensedContent } from './tool-calls.ts';

/** Everything that the context is made of. */
export interface ContextSource {
  model: string;
  systemInstruction?: string | undefined;
  serverInstruction?: string | undefined;
  /** Functions that the app runs, as the conversation document has them. */
  toolsJson?: string | undefined;
  /** Functions that this server runs; which of them the prompt names is decided with it. */
  serverTools?: readonly ToolDeclaration[] | undefined;
  /** What is remembered across conversations, as the prefix shows it; absent: nothing is. */
  memory?: MemoryTexts | undefined;
  pins: readonly Pin[];
  /** Of the history document of the conversation document's generation; absent in generation 0. */
  history: Pick<History, 'snapshotText'> | undefined;
  coveredThrough: CoveredThrough;
  /** The terminal turns after `coveredThrough` in seq order. */
  turns: readonly Turn[];
}

/** What of a turn the context shows. */
export type ShownTurn = Pick<
  Turn,
  'seq' | 'user' | 'contents' | 'surroundings' | 'inContext' | 'model' | 'routing' | 'leftOutFiles'
>;

/** The same with nothing of the turns but what is shown. */
export type ShownSource = Omit<ContextSource, 'turns'> & { turns: readonly ShownTurn[] };

export type ContextItem = {
  /** `marker`: stands in for turns that a shrunken view leaves out. */
  kind: 'memory' | 'pin' | 'snapshot' | 'ack' | 'turn' | 'marker';
  seq?: number;
  /** Of a turn that is being answered. */
  state?: 'running' | 'awaiting_tool';
  content: Content;
  /** Of a content with thought signatures: the model that made them, where that is known. */
  signedBy?: string;
  /** On the first item of a turn whose stored contents no model would take: what was mended. */
  repairs?: Repairs;
};

/** What the model answers to its own memory; fixed, so that the cached prefix stays stable. */
export const ACKNOWLEDGEMENT = 'Understood. I will use this as reference and continue.';

const userText = (text: string): Content => ({ role: 'user', parts: [{ text }] });

/** What stands in for earlier times, the widest first: later ones win. */
function prefixItems({ memory, pins, history }: Omit<ContextSource, 'turns'>): ContextItem[] {
  const items = [
    { kind: 'memory' as const, text: memory?.app ?? '' },
    { kind: 'memory' as const, text: memory?.user ?? '' },
    { kind: 'pin' as const, text: pinText(pins) },
    { kind: 'snapshot' as const, text: history?.snapshotText ?? '' },
  ].filter(({ text }) => text !== '');
  if (items.length === 0) return [];
  return [
    ...items.map(({ kind, text }) => ({ kind, content: userText(text) })),
    { kind: 'ack', content: { role: 'model', parts: [{ text: ACKNOWLEDGEMENT }] } },
  ];
}

/** One turn as the context shows it: outputs that a model condensed so, the folded part left out. */
export function turnContents(turn: ShownTurn, coveredThrough: CoveredThrough): RepairedContents {
  const { surroundings } = turn;
  const contents = [turn.user, ...turn.contents].map(condensedContent);
  const [user] = contents;
  if (user && surroundings !== undefined) contents[0] = shownUser({ user, surroundings });
  const { seq, contentIndex } = coveredThrough;
  // A fold point inside a turn keeps its user content and drops the folded contents behind it.
  const unfolded =
    turn.seq === seq && contentIndex > 0
      ? [contents[0], ...contents.slice(contentIndex + 1)].filter((item) => item !== undefined)
      : contents;
  return sendableTurn(unfolded);
}

/** What of a turn is sent, as items; `model` has answered it. */
export const turnItems = (
  seq: number,
  { contents, repairs }: RepairedContents,
  model?: string,
): ContextItem[] =>
  contents.map((content, index) => ({
    kind: 'turn',
    seq,
    content,
    ...(model !== undefined && hasSignature(content) && { signedBy: model }),
    ...(index === 0 && repairs && { repairs }),
  }));

/** The turns of a context alone, without the files that any of them was answered without. */
export function itemsOfTurns({
  coveredThrough,
  turns,
}: Pick<ShownSource, 'coveredThrough' | 'turns'>): ContextItem[] {
  const leftOut = leftOutParts(turns);
  return turns
    .filter(({ inContext }) => inContext)
    .flatMap((turn) => {
      const shown = { ...turn, user: withoutFiles(turn.user, leftOut) };
      const contents = turnContents(shown, coveredThrough);
      return turnItems(turn.seq, contents, modelThatAnswered(turn));
    });
}

/**
 * The context: the one function behind the model call, `/context` and the compactor, so that what is
 * shown is what is sent. Pure; an empty conversation gives no items.
 */
export const assembleContext = (source: ShownSource): ContextItem[] => [
  ...prefixItems(source),
  ...itemsOfTurns(source),
];

const prefixKinds: ReadonlySet<ContextItem['kind']> = new Set(['memory', 'pin', 'snapshot']);

function joinedPrefix(items: readonly Pick<ContextItem, 'kind' | 'content'>[]): Content[] {
  const contents: Content[] = [];
  for (const [index, { kind, content }] of items.entries()) {
    const before = items[index - 1];
    const last = contents.at(-1);
    const isSame = before && prefixKinds.has(before.kind) && prefixKinds.has(kind);
    if (isSame && last)
      contents[contents.length - 1] = { ...last, parts: [...last.parts, ...content.parts] };
    else contents.push(content);
  }
  return contents;
}

/**
 * The contents that items make in a prompt, in order: one for each, but memory, pins and snapshot, which are
 * parts of one user content, so that user and model go on taking turns, and where turns beside each other
 * do not fit, as `repairHistory` mends them.
 */
export const itemContents = (items: readonly Pick<ContextItem, 'kind' | 'content'>[]): Content[] =>
  repairHistory(joinedPrefix(items)).contents;

/** What the prompt says before all messages: the instruction of the app, then what its servers say of this conversation. */
export function promptInstruction({
  systemInstruction,
  serverInstruction,
}: Pick<ContextSource, 'systemInstruction' | 'serverInstruction'>): string | undefined {
  if (systemInstruction === undefined || serverInstruction === undefined)
    return systemInstruction ?? serverInstruction;
  return `${systemInstruction}\n\n${serverInstruction}`;
}

/** The prompt of the next call: the context, with no signatures but those of `source.model`, and, last, the new user content. */
export function assemblePrompt(
  source: Omit<ContextSource, 'turns'>,
  items: readonly ContextItem[],
  user?: Content,
): Prompt {
  const readable = withOwnSignatures(items, source.model);
  const mended = repairHistory([...joinedPrefix(readable), ...(user ? [user] : [])]);
  const repairs = items.reduce((sum, item) => addRepairs(sum, item.repairs), mended.repairs);
  const { contents } = mended;
  return {
    model: source.model,
    systemInstruction: promptInstruction(source),
    tools: declaredTools({ ...source, contents }),
    contents,
    ...(repairs && { repairs }),
  };
}
