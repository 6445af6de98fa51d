import fc from 'fast-check';
import { answerCalls } from '#functions/chat/turns/tools/answer-calls.ts';
import { messageGuardPath } from '#shared/conversation/documents/paths.ts';
import { callId } from '#shared/conversation/context/tool-calls.ts';
import { isTerminal } from '#shared/conversation/documents/turn.ts';
import { chatOf, ownConversation, messageIdOf, send, type Action, type Stage } from './actors.ts';
import { CONVERSATION } from '../initial-state.ts';

const chat = fc.constantFrom('chat-0', 'chat-1');

/** The message whose answer needs the app. */
const APPED = 'apped';

export const askingTheApp = ({ server }: { server: string }): Action => ({
  text: `${APPED}, which needs the app, is sent to ${server}`,
  server,
  run: (stage) => send(stage, { name: APPED }),
});
const asksTheApp = fc.record({ server: chat }).map(askingTheApp);

/** Where that message stands; before it is there, the turn that it may become. */
async function seqOfApped({ world }: Stage): Promise<number> {
  const [guard] = await world.store.get([messageGuardPath(CONVERSATION, messageIdOf(APPED))]);
  const seq = guard?.fields['seq'];
  return typeof seq === 'number' ? seq : 3;
}

/** The app says something to calls: once more, late, something else, or before anybody has asked. */
const answersCalls = fc
  .record({
    server: chat,
    indexes: fc.constantFrom([0], [1], [0, 1], [0, 1]),
    said: fc.constantFrom('here', 'here', 'here', 'there'),
  })
  .map((input): Action => ({
    text: `the app answers calls ${input.indexes.join(' and ')} with "${input.said}" on ${input.server}`,
    server: input.server,
    run: async (stage) => {
      const seq = await seqOfApped(stage);
      const given = input.indexes.map((index) => ({ seq, index, response: { said: input.said } }));
      const handle = await answerCalls(chatOf(stage), {
        ...ownConversation,
        turnId: `t_${seq}`,
        results: given.map(({ index, response }) => ({
          callId: callId(seq, index),
          kind: 'response' as const,
          response,
        })),
        locale: undefined,
      });
      const { journal } = stage.world;
      journal.taken.push(...given);
      const { turn } = await handle.result;
      if (isTerminal(turn.state))
        journal.acknowledged.push({ messageId: turn.messageId, text: undefined, turn });
    },
  }));

/** Turns that wait for the app, and what the app says to them. */
export const appActions = [
  { weight: 3, arbitrary: asksTheApp },
  { weight: 4, arbitrary: answersCalls },
];
