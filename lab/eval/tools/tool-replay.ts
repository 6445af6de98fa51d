import { createHash, randomUUID } from 'node:crypto';
import { z } from 'zod';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { listCompactions } from '#functions/chat/context/list-compactions.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { createConversation } from '#functions/chat/conversations/create-conversation.ts';
import { listMessages } from '#functions/chat/conversations/list-messages.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { ServerTool } from '#functions/chat/turns/tools/server-tool.ts';
import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import type { Caller } from '#shared/ports/ports.ts';
import type { MessageView } from '#shared/wire/resources/messages.ts';
import { judgePrompts, nothingYet, type ToolReplay } from './judge-replay.ts';
import type { ScriptedTurn, ToolScript } from './tool-script.ts';
import { transcriptProblems } from './tool-transcript.ts';
import { openToolWorld, type ToolEvalWorld } from './tool-world.ts';

const caller: Caller = { uid: 'eval', tier: 'signedIn' };

/** A tool that hangs is stopped long before. */
const TOOL_TIMEOUT_MS = 20_000;

interface ToolReplayOptions {
  id: string;
  script: ToolScript;
  systemInstruction: string | undefined;
  profile: 'assistant' | 'coding';
  /** Absent: the product's own. */
  thresholdTokens: number | undefined;
  fakeGemini: FakeGemini;
  onTurn?: () => void;
}

/** What the tools give: the call that stands in the turn that is being replayed. */
interface Stage {
  turn: ScriptedTurn | undefined;
  /** Told when a call begins that nobody will answer. */
  onOpenCall: () => void;
}

const recordedTool = (name: string, stage: Stage): ServerTool => ({
  name,
  description: 'Recorded.',
  parameters: z.looseObject({}),
  timeoutMs: TOOL_TIMEOUT_MS,
  run: (_, { key }) => {
    const call = stage.turn?.calls[Number(key.split(':')[1])];
    if (call?.response && call.name === name) return Promise.resolve(call.response);
    if (call === undefined) return Promise.reject(new Error(`nothing is recorded for ${key}`));
    stage.onOpenCall();
    return new Promise(() => undefined);
  },
});

interface Replaying extends ToolReplayOptions {
  world: ToolEvalWorld;
  conversationId: string;
  stage: Stage;
  found: ToolReplay;
}

/** The model says what is recorded of this turn: each content once, however often the same was asked before. */
function prepareModel({ id, fakeGemini }: Replaying, { userTexts, answers }: ScriptedTurn): void {
  const userHash = createHash('sha256').update(userTexts.join('\n')).digest('hex');
  fakeGemini.clearAnswers();
  fakeGemini.clearJournal();
  fakeGemini.registerAnswers(
    ...answers.map((content, index) => ({
      conversation: id,
      userHash,
      ordinal: index + 1,
      contents: [content],
    })),
  );
}

async function sendTurn(replaying: Replaying, turn: ScriptedTurn, seq: number): Promise<void> {
  const { conversationId, found, stage, world } = replaying;
  const { chat } = world;
  let stopping: Promise<unknown> | undefined;
  stage.turn = turn;
  stage.onOpenCall = () => {
    stopping ??= cancelTurn(chat, { caller, conversationId, turnId: `t_${seq}` });
  };
  const message = { id: randomUUID(), parts: turn.userTexts.map((text) => ({ text })) };
  try {
    const handle = await sendMessage(chat, { caller, conversationId, message });
    for await (const _ of handle.frames()) continue;
    const ended = await handle.result;
    await stopping;
    const wanted = turn.isStopped ? 'cancelled' : 'done';
    if (ended.turn.state !== wanted)
      found.failures.push(`turn ${seq} is ${ended.turn.state}, not ${wanted}`);
  } catch (error) {
    found.failures.push(`turn ${seq}: ${error instanceof Error ? error.message : String(error)}`);
  }
  await world.settle();
}

async function readTranscript({ world, conversationId }: Replaying): Promise<MessageView[]> {
  const messages: MessageView[] = [];
  let pageToken: string | undefined;
  do {
    const page = await listMessages(world.chat, {
      caller,
      conversationId,
      pageSize: 100,
      pageToken,
      order: 'asc',
      afterSeq: 0,
    });
    messages.push(...page.messages);
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
  return messages;
}

async function countCompactions({ world, conversationId, found }: Replaying): Promise<void> {
  let pageToken: string | undefined;
  do {
    const target = { caller, conversationId, pageSize: 100, pageToken, locale: undefined };
    const page = await listCompactions(world.chat, target);
    for (const { state, reason } of page.compactions) {
      const name = [state, reason].filter((each) => each !== undefined).join(' ');
      found.compactions[name] = (found.compactions[name] ?? 0) + 1;
    }
    pageToken = page.nextPageToken;
  } while (pageToken !== undefined);
}

async function replayTurns(replaying: Replaying): Promise<void> {
  const { script, world, conversationId, found, systemInstruction } = replaying;
  const { profile, thresholdTokens } = replaying;
  await createConversation(world.chat, {
    caller,
    id: conversationId,
    fields: {
      profile,
      ...(systemInstruction !== undefined && { systemInstruction }),
      ...(thresholdTokens !== undefined && { settings: { thresholdTokens } }),
    },
  });
  let generation = 0;
  for (const [index, turn] of script.turns.entries()) {
    const shown = await showContext(world.chat, { caller, conversationId });
    const isSwapped = shown.generation > generation;
    generation = shown.generation;
    found.outputBudgetTokens = shown.policy?.toolOutputs.tokens ?? 0;
    prepareModel(replaying, turn);
    await sendTurn(replaying, turn, index + 1);
    judgePrompts(replaying, index + 1, { shown, isSwapped });
    replaying.onTurn?.();
  }
  found.transcript = transcriptProblems(script.turns, await readTranscript(replaying));
  await countCompactions(replaying);
  found.errors = world.errors;
}

/**
 * Sends the messages of a recorded dialogue through chat, whose model says what is recorded and whose tools give
 * what is recorded, with the worker at work in between, and judges prompts, transcript, contexts and compactions.
 */
export async function replayTools(options: ToolReplayOptions): Promise<ToolReplay> {
  const stage: Stage = { turn: undefined, onOpenCall: () => undefined };
  const names = new Set(options.script.turns.flatMap(({ calls }) => calls.map(({ name }) => name)));
  const world = await openToolWorld({
    fakeGeminiUrl: options.fakeGemini.url,
    tools: [...names].map((name) => recordedTool(name, stage)),
  });
  const found = nothingYet(options.id, options.script);
  try {
    await replayTurns({ ...options, world, conversationId: randomUUID(), stage, found });
  } finally {
    await world.stop();
  }
  return found;
}
