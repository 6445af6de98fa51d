import { describe, expect, test } from 'vitest';
import { localConfig } from '#infra/local/local-config.ts';
import { chooseModel, stackEnvironment } from '#infra/local/stack/stack-environment.ts';

const fakeGemini = { model: { kind: 'stand-in' }, fakeGeminiUrl: 'http://127.0.0.1:1' } as const;

describe('stackEnvironment', () => {
  test('stackEnvironment is a configuration that accepts unsigned tokens and pushes', () => {
    const config = localConfig(stackEnvironment({ shell: {}, ...fakeGemini }));

    expect(config).toMatchObject({ allowUnsignedIdTokens: true, allowUnsignedPush: true });
  });

  test('stackEnvironment never passes on the shell’s credentials or project', () => {
    const shell = {
      GOOGLE_CLOUD_PROJECT: 'my-production',
      GOOGLE_APPLICATION_CREDENTIALS: '/key.json',
      FIRESTORE_EMULATOR_HOST: 'elsewhere:1',
      GOOGLE_API_KEY: 'secret',
    };

    const environment = stackEnvironment({ shell, ...fakeGemini });

    expect(environment.GOOGLE_CLOUD_PROJECT).toBe('demo-recap');
    expect(Object.values(environment)).not.toContain('/key.json');
    expect(Object.values(environment)).not.toContain('elsewhere:1');
    expect(Object.values(environment)).not.toContain('secret');
  });

  test('stackEnvironment lets a setting override the local defaults', () => {
    const settings = { MAX_PART_BYTES: '900000' };

    expect(stackEnvironment({ shell: {}, ...fakeGemini, settings }).MAX_PART_BYTES).toBe('900000');
  });
});

describe('chooseModel', () => {
  test('chooseModel uses the shell’s API key', () => {
    expect(chooseModel({ GEMINI_API_KEY: 'k' })).toEqual({ kind: 'gemini', apiKey: 'k' });
  });

  test('chooseModel uses Vertex AI where the shell chooses it, and keeps data local', () => {
    const shell = {
      GOOGLE_GENAI_USE_VERTEXAI: 'true',
      GOOGLE_CLOUD_PROJECT: 'mine',
      GOOGLE_CLOUD_LOCATION: 'europe-west1',
    };

    const model = chooseModel(shell);

    expect(model).toMatchObject({ kind: 'vertex', project: 'mine', location: 'europe-west1' });
    expect(localConfig(stackEnvironment({ shell, model }))).toMatchObject({
      GOOGLE_CLOUD_PROJECT: 'demo-recap',
      VERTEX_PROJECT: 'mine',
      VERTEX_LOCATION: 'europe-west1',
    });
  });

  test.each([{}, { GEMINI_API_KEY: '' }, { GOOGLE_GENAI_USE_VERTEXAI: 'true' }])(
    'chooseModel uses the fake Gemini for %o',
    (environment) => {
      expect(chooseModel(environment)).toEqual({ kind: 'stand-in' });
    },
  );
});
