import type { Config } from '#functions/config.ts';
import { localConfig } from '#infra/local/local-config.ts';
import { stackEnvironment } from '#infra/local/stack/stack-environment.ts';

/**
 * The configuration of a host whose emulators are named by its environment, before the fake Gemini at `fakeGeminiUrl`.
 */
export const hostConfig = (fakeGeminiUrl: string): Config =>
  localConfig(
    stackEnvironment({
      shell: {},
      model: { kind: 'stand-in' },
      fakeGeminiUrl,
      emulators: {
        firestoreHost: process.env['FIRESTORE_EMULATOR_HOST'] ?? '',
        pubsubHost: process.env['PUBSUB_EMULATOR_HOST'] ?? '',
      },
      // One call of the model a turn; what is said again and again is no loop here.
      settings: { TITLES: 'off', LOOP_DETECTION: 'off' },
    }),
  );
