import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ChatDependencies } from '#functions/chat/chat-dependencies.ts';
import { showContext, type ShownContext } from '#functions/chat/context/show-context.ts';
import { answerCalls } from '#functions/chat/turns/send/answer-calls.ts';
import { itemContents, type ContextItem } from '#shared/conversation/context/assemble-context.ts';
import { contentSchema, type Content } from '#shared/models/content.ts';
import { withResponses } from '#shared/conversation/context/tool-calls.ts';
import { startModelServer } from '#test/support/processes/model-server.ts';
import { say, toolChat, withAppTools } from '#test/support/tools/tool-world.ts';

const { server: fakeGemini, model } = await startModelServer();

const caller = { uid: 'u1', tier: 'signedIn' } as const;
const bodySchema = z.looseObject({ contents: z.array(contentSchema) });

/** The contents of the requests to the model since the test began. */
const sent = (): Content[][] =>
  fakeGemini
    .journal()
    .filter(({ operation }) => operation === 'streamGenerateContent')
    .map(({ n }) => bodySchema.parse(fakeGemini.requestBody(n)).contents);

/** The contents that items of `/context` stand for. */
const contentsIn = ({ items }: ShownContext): Content[] =>
  itemContents(
    items.flatMap(({ kind, content }): Pick<ContextItem, 'kind' | 'content'>[] =>
      kind === 'system' || kind === 'tools'
        ? []
        : [{ kind, content: contentSchema.parse(content) }],
    ),
  );

const statesIn = ({ items }: ShownContext, seq: number) => [
  ...new Set(items.filter((item) => item.seq === seq).map(({ state }) => state)),
];

const show = (chat: ChatDependencies, conversationId: string) =>
  showContext(chat, { caller, conversationId });

const answer = (
  chat: ChatDependencies,
  conversationId: string,
  results: { callId: string; response: Record<string, unknown> }[],
) =>
  answerCalls(chat, {
    caller,
    conversationId,
    turnId: 't_2',
    results: results.map((result) => ({ kind: 'response', ...result })),
    locale: undefined,
  });

const LONG = 'a line of what the app knows\n'.repeat(2_000);

test.each([
  ['in the first round', 'call locate {"question":"where"}\ncall weather {"city":"Oslo"}', 0],
  [
    'in a later round, behind long outputs',
    'call large {"bytes":90000}\nthen\ncall large {"bytes":70000}\nthen\ncall locate',
    2,
  ],
])(
  'a turn that waits for the app is shown as its next round is sent: %s',
  async (_, text, index) => {
    const { chat } = toolChat(model);
    const conversationId = randomUUID();
    await withAppTools(chat, conversationId, ['locate']);
    await say(chat, conversationId, 'Hello.');
    const { turn } = await say(chat, conversationId, text);
    expect(turn.state).toBe('awaiting_tool');
    fakeGemini.clearJournal();

    const shown = await show(chat, conversationId);
    const response = { output: LONG };
    const handle = await answer(chat, conversationId, [{ callId: `t_2_c${index}`, response }]);
    await handle.result;

    const [next] = sent();
    expect(withResponses(contentsIn(shown), () => response).map(shortened)).toEqual(
      next?.map(shortened),
    );
    expect(statesIn(shown, 1)).toEqual([undefined]);
    expect(statesIn(shown, 2)).toEqual(['awaiting_tool']);
    expect(statesIn(await show(chat, conversationId), 2)).toEqual([undefined]);
  },
);

/** The answer of the app is longer than a prompt shows it. */
const shortened = (content: Content): Content => ({
  ...content,
  parts: content.parts.map((part) => {
    const isAnswer = part.functionResponse?.name === 'locate';
    return isAnswer ? { functionResponse: { name: 'locate', response: {} } } : part;
  }),
});
