/*
 * ADK: an agent and its runner over the session service that it ships for databases, here a file of libSQL. A turn
 * appends the user's event and the answer's; the runner loads all events of the session first.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BaseLlm, createEvent, LlmAgent, Runner } from '@google/adk';
import { DatabaseSessionService } from '@google/adk/sessions/database';
import { LibSqlDriver } from '@mikro-orm/libsql';
import { ANSWER, serveTurns } from '../serve-peer.ts';

class FreeModel extends BaseLlm {
  async *generateContentAsync() {
    yield { content: { role: 'model', parts: [{ text: ANSWER }] }, turnComplete: true };
  }
  connect() {
    return Promise.reject(new Error('nothing is spoken live'));
  }
}

const place = { appName: 'bench', userId: 'u1' };
const sessionService = new DatabaseSessionService({
  driver: LibSqlDriver,
  dbName: join(tmpdir(), 'sessions.db'),
});
const agent = new LlmAgent({
  name: 'assistant',
  model: new FreeModel({ model: 'free' }),
  instruction: 'You plan a journey.',
});
const runner = new Runner({ appName: place.appName, agent, sessionService });

serveTurns({
  seed: async (messages) => {
    const session = await sessionService.createSession(place);
    for (const { role, text } of messages) {
      const author = role === 'user' ? 'user' : 'assistant';
      const content = { role, parts: [{ text }] };
      const event = createEvent({ invocationId: 'past', author, timestamp: Date.now(), content });
      await sessionService.appendEvent({ session, event });
    }
    return session.id;
  },
  turn: async (sessionId, text) => {
    const newMessage = { role: 'user', parts: [{ text }] };
    const events = runner.runAsync({ userId: place.userId, sessionId, newMessage });
    for await (const { errorMessage } of events)
      if (errorMessage !== undefined) throw new Error(errorMessage);
  },
});
