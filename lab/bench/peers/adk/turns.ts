/*
 * ADK: an agent and its runner over the session service that it ships for databases, here a file of libSQL. A turn
 * appends the user's event and the answer's; the runner loads all events of the session first.
 */
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ANSWER, peerModule, serveTurns } from '../serve-peer.ts';

interface Session {
  id: string;
}

interface SessionService {
  createSession(request: { appName: string; userId: string }): Promise<Session>;
  appendEvent(request: { session: Session; event: object }): Promise<object>;
}

interface Runner {
  runAsync(request: {
    userId: string;
    sessionId: string;
    newMessage: object;
  }): AsyncIterable<{ errorMessage?: string }>;
}

interface Adk {
  BaseLlm: abstract new (options: { model: string }) => object;
  LlmAgent: new (options: object) => object;
  Runner: new (options: object) => Runner;
  createEvent: (event: object) => object;
}

const { BaseLlm, LlmAgent, Runner, createEvent } = await peerModule<Adk>(
  import.meta.resolve('@google/adk'),
);
const { DatabaseSessionService } = await peerModule<{
  DatabaseSessionService: new (options: object) => SessionService;
}>(import.meta.resolve('@google/adk/sessions/database'));
const { LibSqlDriver } = await peerModule<{ LibSqlDriver: unknown }>(
  import.meta.resolve('@mikro-orm/libsql'),
);

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
