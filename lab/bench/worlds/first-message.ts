import { randomUUID } from 'node:crypto';
import { startEmulators } from '#infra/local/emulators.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { firstAnswer } from '../cold-start/first-answer.ts';
import { NOBODY_THERE } from '../cold-start/start-function.ts';
import { startFakeGeminiHost } from '../hosts/start-host.ts';

/** What a packed chat function needs to answer, and a user who writes to it. */
export interface FirstMessage {
  environment: NodeJS.ProcessEnv;
  /** Sends the first message of a new conversation. True at the first text of its answer, false where nobody listens. */
  send: (url: string) => Promise<boolean>;
  close(): Promise<void>;
}

/** Emulators and the fake Gemini, which answers at once. Throws Error where no emulators are installed. */
export async function startFirstMessage(): Promise<FirstMessage> {
  const emulators = await startEmulators({ log: () => undefined });
  if ('missing' in emulators) throw new Error(emulators.missing);
  const fakeGemini = await startFakeGeminiHost();
  const projectId = NOBODY_THERE.GOOGLE_CLOUD_PROJECT;
  const token = unsignedToken({ uid: 'bench', projectId, now: new Date() });
  return {
    environment: {
      FIRESTORE_EMULATOR_HOST: emulators.firestoreHost,
      PUBSUB_EMULATOR_HOST: emulators.pubsubHost,
      GEMINI_BASE_URL: fakeGemini.url,
    },
    send: async (url) => {
      const parts = [{ type: 'text', text: 'My dog is called Pixel.' }];
      const sent = {
        method: 'POST',
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'text/event-stream',
          'content-type': 'application/json',
        },
        body: JSON.stringify({ message: { id: randomUUID(), parts } }),
      };
      const path = `${url}/v1/conversations/${randomUUID()}/messages`;
      return (await firstAnswer(path, sent, '"type":"text-delta"')) !== undefined;
    },
    close: async () => {
      await fakeGemini.close();
      await emulators.stop();
    },
  };
}
