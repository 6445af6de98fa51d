import { memoryTokens } from '#shared/conversation/context/memory-texts.ts';
import { meterCounting, conversationPolicy } from '#functions/config/conversation-policy.ts';
import {
  viewOfFirstCall,
  viewOfNextCall,
  viewOfRound,
  type ConversationContext,
  type Viewing,
} from '#functions/context/next-call.ts';
import {
  withTextBefore,
  memoryBudgetTokens,
  memoryForPrompt,
  readNotes,
} from '#functions/memory/prompt-memory.ts';
import { answeringModel } from '#functions/models/models-in-use.ts';
import type { CompactionPolicy } from '#shared/compaction/policy.ts';
import type { ShrunkenView, Shrinkage } from '#shared/conversation/context/sent-view.ts';
import {
  type ContextItem,
  assembleContext,
  assemblePrompt,
  type ContextSource,
} from '#shared/conversation/context/assemble-context.ts';
import { namedParts, withoutFiles } from '#shared/conversation/context/left-out-files.ts';
import {
  firstTailSeq,
  readHistory,
  readTurnRange,
} from '#shared/conversation/context/read-conversation.ts';
import type { Conversation } from '#shared/conversation/documents/conversation.ts';
import type { History } from '#shared/conversation/documents/history.ts';
import {
  shownUser,
  modelThatAnswered,
  turnModel,
  type Turn,
  isTerminal,
} from '#shared/conversation/documents/turn.ts';
import { withOwnSignatures } from '#shared/conversation/repair/repair-prompt.ts';
import type { SelectedMemory } from '#shared/memory/select-memory.ts';
import { estimateContentTokens, estimateTextTokens } from '#shared/tokens/token-estimate.ts';
import type { ContextItemView, MemoryView, PolicyView } from '#shared/wire/resources/context.ts';
import { citationView } from '#shared/wire/sources.ts';
import type { ChatDependencies } from '../chat-dependencies.ts';
import { toolboxOfTurn } from '../turns/tools/toolbox.ts';
import { readOwnConversation, type ConversationTarget } from '../conversations/own-conversation.ts';
import { generationErased, generationNotFound } from '../not-found.ts';
import { readContext } from './view-context.ts';

/** The turn that is being answered, or waits for the app. */
interface OpenNow {
  turn: Turn;
  /** What its calls say of the memory beside the message. */
  memory: string;
}

/**
 * The view of the next call: between two messages the context, else with the open turn as far as it is stored, whose
 * items have its state.
 */
function viewNow(
  viewing: Viewing,
  context: ConversationContext,
  open: OpenNow | undefined,
): Pick<ShrunkenView, 'items' | 'tokens' | 'shrinkage'> {
  if (!open) return viewOfNextCall(viewing, context);
  const { seq, contents, ...turn } = open.turn;
  const user = shownUser({ ...turn, user: withTextBefore(turn.user, open.memory) });
  const view =
    contents.length > 0
      ? viewOfRound(viewing, context, { seq, user, contents, model: modelThatAnswered(turn) })
      : viewOfFirstCall(viewing, context, { seq, user });
  const state: ContextItem['state'] = turn.state === 'awaiting_tool' ? 'awaiting_tool' : 'running';
  const leftOut = namedParts(open.turn.leftOutFiles ?? [], [...context.turns, open.turn]);
  const items = view.items.map((item) => ({
    ...item,
    content: withoutFiles(item.content, leftOut),
    ...(item.seq === seq && { state }),
  }));
  return { ...view, items };
}

/** The limits of a conversation, each with the level that set it; `derived` follows from the threshold. */
function viewPolicy(policy: CompactionPolicy): PolicyView {
  const { levels } = policy;
  return {
    threshold: {
      tokens: policy.softThresholdTokens,
      source: policy.thresholdLevel,
      ...(policy.thresholdShift !== 0 && { learned: policy.thresholdShift }),
    },
    hardThreshold: { tokens: policy.hardThresholdTokens, source: 'derived' },
    tail: { tokens: policy.tailTokens, source: levels.tailTokens ?? 'derived' },
    snapshot: {
      tokens: policy.snapshotBudgetTokens,
      source: levels.snapshotBudgetTokens ?? 'derived',
    },
    toolOutputs: {
      tokens: policy.toolOutputBudgetTokens,
      source: levels.toolOutputBudgetTokens ?? 'derived',
    },
  };
}

/** Turns of one read while the end of an older generation is looked for. */
const READ_TURNS = 50;

export interface ShownContext {
  generation: number;
  contextTokens: number;
  shrunken?: Shrinkage;
  /** Of the present generation. */
  policy?: PolicyView;
  memory?: MemoryView;
  items: ContextItemView[];
}

/** The sources that a snapshot names by their ids; nothing where it has none. */
const sourcesOfSnapshot = (history: History | undefined): Pick<ContextItemView, 'sources'> => {
  const sources = history?.snapshot?.citations?.map(citationView);
  return sources ? { sources } : {};
};

/** Every piece of the prompt with its calibrated estimate; the figures of items are heuristics. */
function itemsOf(
  source: ContextSource & Pick<Conversation, 'profile'> & { history: History | undefined },
  items: readonly ContextItem[],
  calibration: number,
): ContextItemView[] {
  const counting = meterCounting(source);
  const { systemInstruction, tools } = assemblePrompt(source, items);
  const calibrated = (tokens: number) => Math.ceil(calibration * tokens);
  const textTokens = (text: string) => calibrated(estimateTextTokens(text, counting));
  return [
    ...(systemInstruction === undefined
      ? []
      : [
          {
            kind: 'system' as const,
            tokens: textTokens(systemInstruction),
            content: systemInstruction,
          },
        ]),
    ...(tools === undefined || tools.length === 0
      ? []
      : [
          {
            kind: 'tools' as const,
            tokens: textTokens(JSON.stringify(tools)),
            content: [...tools],
          },
        ]),
    ...withOwnSignatures(items, source.model).map((item) => ({
      ...item,
      tokens: calibrated(estimateContentTokens(item.content, counting)),
      ...(item.kind === 'snapshot' && sourcesOfSnapshot(source.history)),
    })),
  ];
}

/** How much of the memory the prompt shows, and what it has no room for. */
const memoryView = (memory: SelectedMemory, budgetTokens: number): MemoryView => ({
  tokens: memoryTokens(memory.standing),
  budgetTokens,
  shown: memory.shown,
  waiting: memory.waiting,
  leftOut: memory.overBudget.length,
  imports: memory.imports,
});

async function showCurrent(
  dependencies: ChatDependencies,
  target: ConversationTarget,
): Promise<ShownContext> {
  const { config } = dependencies;
  const [{ conversation, history, turns, open }, notes] = await Promise.all([
    readContext(dependencies, target),
    readNotes(dependencies, target.caller.uid),
  ]);
  const message = open && { message: open.user };
  const memory = memoryForPrompt(config, { conversation: conversation.value, notes, ...message });
  const serverTools = toolboxOfTurn(dependencies.toolbox, open?.tools).declarations;
  const model = answeringModel(config, turnModel(conversation.value.model, open));
  const source = {
    ...conversation.value,
    model,
    history,
    turns,
    memory: memory.standing,
    serverTools,
  };
  const answering = (open && modelThatAnswered(open)) ?? model;
  const view = viewNow(dependencies, source, open && { turn: open, memory: memory.withMessage });
  return {
    generation: conversation.value.generation,
    contextTokens: view.tokens,
    ...(view.shrinkage && { shrunken: view.shrinkage }),
    policy: viewPolicy(conversationPolicy(config, conversation.value)),
    ...(config.MEMORY_BUDGET_TOKENS > 0 && {
      memory: memoryView(memory, memoryBudgetTokens(config, conversation.value)),
    }),
    items: itemsOf(
      { ...source, model: answering },
      view.items,
      conversation.value.context.calibration,
    ),
  };
}

/** The turns from where a generation begins up to the last that began before its successor was made. */
async function turnsOfGeneration(
  dependencies: ChatDependencies,
  target: { conversationId: string; conversation: Conversation; madeAt: Date },
): Promise<Turn[]> {
  const { conversationId, conversation, madeAt } = target;
  const turns: Turn[] = [];
  for (
    let fromSeq = firstTailSeq(conversation);
    fromSeq <= conversation.lastSeq;
    fromSeq += READ_TURNS
  ) {
    const toSeq = Math.min(conversation.lastSeq, fromSeq + READ_TURNS - 1);
    const read = await readTurnRange(dependencies, {
      conversationId,
      conversation,
      fromSeq,
      toSeq,
    });
    const inTime = read.filter(({ createTime }) => createTime <= madeAt);
    turns.push(...inTime);
    if (inTime.length < read.length) break;
  }
  return turns.filter(({ state }) => isTerminal(state));
}

async function showEarlier(
  dependencies: ChatDependencies,
  target: { conversationId: string; conversation: Conversation; generation: number },
): Promise<ShownContext> {
  const { conversationId, conversation, generation } = target;
  const read = (wanted: number): Promise<History | undefined> =>
    readHistory(dependencies, { conversationId, conversation, generation: wanted });
  const [history, successor, notes] = await Promise.all([
    read(generation),
    read(generation + 1),
    readNotes(dependencies, conversation.ownerUid),
  ]);
  if ((generation > 0 && !history) || !successor) throw generationNotFound(generation);
  if (history?.erased === true) throw generationErased(generation);
  const coveredThrough = history?.coveredThrough ?? { seq: 0, contentIndex: 0 };
  const conversationThen = { ...conversation, generation, coveredThrough };
  const madeAt = successor.createTime;
  const turns = await turnsOfGeneration(dependencies, {
    conversationId,
    conversation: conversationThen,
    madeAt,
  });
  const memory = memoryForPrompt(dependencies.config, { conversation, notes }).standing;
  const serverTools = dependencies.toolbox.declarations;
  const source = { ...conversationThen, history, turns, memory, serverTools };
  const items = itemsOf(source, assembleContext(source), conversation.context.calibration);
  return { generation, contextTokens: items.reduce((sum, { tokens }) => sum + tokens, 0), items };
}

/**
 * What the model sees of a conversation: without `generation` exactly the next prompt, but for its last
 * user content, and while a turn is being answered for what its tools and the app have still to give; with one, an earlier generation as far as it went: its snapshot, and the turns until the
 * next was made as they are today, with the instruction, memory and pins of today. Throws NOT_FOUND,
 * GENERATION_NOT_FOUND, GENERATION_ERASED.
 */
export async function showContext(
  dependencies: ChatDependencies,
  target: ConversationTarget & { generation?: number | undefined },
): Promise<ShownContext> {
  const { conversationId, generation } = target;
  if (generation === undefined) return showCurrent(dependencies, target);
  const { conversation } = await readOwnConversation(dependencies, target);
  const current = conversation.value.generation;
  if (generation > current) throw generationNotFound(generation);
  if (generation === current) return showCurrent(dependencies, target);
  return showEarlier(dependencies, {
    conversationId,
    conversation: conversation.value,
    generation,
  });
}
