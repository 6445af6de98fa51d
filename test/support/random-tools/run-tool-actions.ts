import { isDeepStrictEqual } from 'node:util';
import { cancelTurn } from '#functions/chat/turns/finish/cancel-turn.ts';
import { requestCompaction } from '#functions/chat/context/request-compaction.ts';
import { showContext } from '#functions/chat/context/show-context.ts';
import { sendMessage } from '#functions/chat/turns/send/send-message.ts';
import type { SendRequest } from '#functions/chat/turns/send/send-request.ts';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { runSweep } from '#functions/worker/sweep/sweep.ts';
import type { FakeGemini } from '#infra/fake-gemini/server/start-fake-gemini.ts';
import { contentText } from '#shared/conversation/documents/content.ts';
import { callId } from '#shared/conversation/context/tool-calls.ts';
import { waitingCalls, type ToolResult } from '#shared/conversation/context/tool-results.ts';
import type { Turn } from '#shared/conversation/documents/turn.ts';
import { AppError } from '#shared/errors.ts';
import { compactOnce, neverAborted } from '../compaction/compacted-conversation.ts';
import { edit, regenerate } from '../chat/replacing.ts';
import { request } from '../chat/sending.ts';
import { switchTo } from '../chat/switching.ts';
import type { Said, ToolAction } from './tool-actions.ts';
import {
  note,
  openTurn,
  problems,
  prompts,
  storedTurns,
  type Reached,
  type Run,
} from './tool-run.ts';
import { LEASE_MS, RESULT_TIMEOUT_MS, type ToolStage } from './tool-stage.ts';

const caller = { uid: 'u1', tier: 'signedIn' } as const;

/** What clients may be told of what they did out of turn. */
const REFUSALS = ['TOOL_RESULT_CONFLICT', 'TOOL_CALL_NOT_FOUND', 'TURN_FINISHED'];

const textOf = (rounds: readonly string[][]) =>
  rounds.length === 0
    ? 'And what about the weather of tomorrow? '.repeat(8)
    : // A question of why is one for the stronger of two models.
      [
        ...(rounds.length === 2 ? ['Why?'] : []),
        rounds.map((calls) => calls.join('\n')).join('\nthen\n'),
      ].join('\n');

/** Sends a message and notes its text as taken. */
async function send(run: Run, sent: SendRequest): Promise<void> {
  const { stage, said } = run;
  const handle = await sendMessage(stage.chat, sent);
  if (sent.message.parts.length > 0)
    said.set(sent.message.id, contentText({ role: 'user', parts: sent.message.parts }));
  const { turn } = await handle.result;
  note(run, turn.state);
}

const comparable = (value: object, isSigned: boolean): unknown =>
  JSON.parse(JSON.stringify(value), (key, inner: unknown) =>
    key === 'thoughtSignature' && !isSigned ? undefined : inner,
  );

/** Sends a plain message, and compares its prompt with what `/context` has promised. */
async function say(run: Run, rounds: readonly string[][]): Promise<string[]> {
  const { conversationId, chat } = run.stage;
  const isOpen = (await openTurn(run)) !== undefined;
  const shown = await showContext(chat, { caller, conversationId });
  await send(run, request(conversationId, textOf(rounds)));
  const [first] = prompts(run);
  if (isOpen || !first) return [];
  note(run, 'compared');
  if (shown.shrunken) note(run, 'shrunken');
  const ofKind = (isWanted: (kind: string) => boolean) =>
    shown.items.filter(({ kind }) => isWanted(kind)).map(({ content }) => content);
  const promised = {
    tools: ofKind((kind) => kind === 'tools')[0],
    contents: ofKind((kind) => kind !== 'tools' && kind !== 'system'),
  };
  const sent = {
    tools: first.tools?.[0]?.functionDeclarations,
    contents: first.contents.slice(0, -1),
  };
  // Before a choice nobody knows which signatures go.
  const isChosen = (await storedTurns(run)).at(-1)?.model !== 'auto';
  return isDeepStrictEqual(comparable(promised, isChosen), comparable(sent, isChosen))
    ? []
    : [`/context showed ${JSON.stringify(promised)}, and sent was ${JSON.stringify(sent)}`];
}

async function replace(run: Run, action: Extract<ToolAction, { kind: 'edit' | 'regenerate' }>) {
  const { conversationId } = run.stage;
  const turns = (await storedTurns(run)).filter(({ replacedBy }) => replacedBy === undefined);
  const turn = turns.at(action.kind === 'edit' ? -1 - action.back : -1);
  if (!turn) return;
  await send(
    run,
    action.kind === 'edit'
      ? edit(conversationId, turn.messageId, textOf(action.rounds))
      : regenerate(conversationId, `m_${turn.seq}`),
  );
  note(run, action.kind);
}

async function die(run: Run, action: Extract<ToolAction, { kind: 'dies' }>): Promise<void> {
  const { stage } = run;
  const sent = request(stage.conversationId, textOf(action.rounds));
  const { chat, died } = stage.mortal(action.point, action.nth);
  const handle = await sendMessage(chat, sent);
  run.said.set(sent.message.id, textOf(action.rounds));
  const isDead = await Promise.race([died.then(() => true), handle.result.then(() => false)]);
  if (!isDead) return;
  note(run, 'died');
  stage.elapse(LEASE_MS + 1);
  if (!action.isSentAgain) return;
  await send(run, sent);
  note(run, 'taken over');
}

const resultFor = (turn: Turn, index: number, isGood: boolean): ToolResult => ({
  callId: callId(turn.seq, index),
  ...(turn.rounds?.asks?.includes(index) === true
    ? { kind: 'approval', isApproved: isGood }
    : { kind: 'response', response: isGood ? { value: index } : { error: 'no such thing' } }),
});

async function post(run: Run, last: { turnId: string; results: ToolResult[] }): Promise<void> {
  const { conversationId, chat } = run.stage;
  run.last = last;
  const locale = undefined;
  const asked = { caller, conversationId, ...last, locale };
  const { turn } = await (await answerCalls(chat, asked)).result;
  note(run, `answered: ${turn.state}`);
}

async function answer(run: Run, { only, isGood }: Said): Promise<void> {
  const turn = await openTurn(run);
  if (turn?.state !== 'awaiting_tool') return;
  const waiting = waitingCalls(turn).filter(
    (_, place, all) => only === undefined || place === only % all.length,
  );
  const results = waiting.map(({ index }) => resultFor(turn, index, isGood));
  await post(run, { turnId: `t_${turn.seq}`, results });
}

const otherResult = (result: ToolResult): ToolResult =>
  result.kind === 'approval'
    ? { ...result, isApproved: !result.isApproved }
    : { ...result, response: { value: 'another' } };

async function compact(run: Run): Promise<void> {
  const { conversationId, chat, worker } = run.stage;
  const requestId = `by-hand-${run.reached.get('compactions') ?? 0}`;
  note(run, 'compactions');
  await requestCompaction(chat, { caller, conversationId, requestId });
  const result = await compactOnce(worker(), conversationId);
  note(run, 'state' in result ? String(result.state) : result.kind);
}

async function switchModel(run: Run, to: string): Promise<void> {
  const { conversationId, chat } = run.stage;
  const isOpen = (await openTurn(run)) !== undefined;
  await switchTo(chat, conversationId, to);
  note(run, isOpen ? 'switched within a turn' : 'switched');
}

async function act(run: Run, action: ToolAction): Promise<string[]> {
  const { stage, last } = run;
  switch (action.kind) {
    case 'say':
      return say(run, action.rounds);
    case 'edit':
    case 'regenerate':
      await replace(run, action);
      break;
    case 'dies':
      await die(run, action);
      break;
    case 'answer':
      await answer(run, action);
      break;
    case 'answerAgain':
      if (last)
        await post(run, {
          ...last,
          results: action.isOther ? last.results.map(otherResult) : last.results,
        });
      break;
    case 'expire':
      stage.elapse(RESULT_TIMEOUT_MS + 1);
      break;
    case 'sweep':
      await runSweep(stage.worker(), neverAborted());
      break;
    case 'cancel': {
      const turn = await openTurn(run);
      const target = {
        caller,
        conversationId: stage.conversationId,
        turnId: `t_${turn?.seq ?? 1}`,
      };
      await cancelTurn(stage.chat, target);
      note(run, 'cancelled by hand');
      break;
    }
    case 'switch':
      await switchModel(run, action.to);
      break;
    case 'compact':
      await compact(run);
  }
  return [];
}

/** Does all of it to a conversation, then says a last word; returns what was wrong after the first wrong step. */
export async function runToolActions(
  stage: ToolStage,
  input: { fakeGemini: FakeGemini; reached: Reached; actions: readonly ToolAction[] },
): Promise<string[]> {
  const { fakeGemini, reached, actions } = input;
  const run: Run = { stage, fakeGemini, reached, said: new Map() };
  const lastWord: ToolAction = { kind: 'say', rounds: [] };
  for (const action of [...actions, lastWord]) {
    fakeGemini.clearJournal();
    let wrong: string[] = [];
    try {
      wrong = await act(run, action);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      note(run, error.reason);
      if (!REFUSALS.includes(error.reason)) wrong = [`${error.reason}: ${error.message}`];
    }
    wrong = [...wrong, ...(await problems(run))];
    if (wrong.length > 0) return [`after ${JSON.stringify(action)}:`, ...wrong];
  }
  const isSafe = !actions.some(({ kind }) => kind === 'dies');
  const twice = [...stage.effects].filter(([, times]) => isSafe && times > 1);
  if (twice.length > 0) return [`ran twice: ${twice.join(' ')}`];
  const end = (await storedTurns(run)).at(-1);
  return end?.state === 'done' ? [] : [`the last message ended as ${end?.state}`];
}
