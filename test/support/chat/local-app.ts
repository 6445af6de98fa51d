import { randomUUID } from 'node:crypto';
import { onTestFinished } from 'vitest';
import type { RecapApp } from '#functions/app.ts';
import { startEmbeddedHost } from '#infra/local/embedded/host.ts';
import { unsignedToken } from '#infra/local/processes/unsigned-token.ts';
import { localProjectId, stackEnvironment } from '#infra/local/stack/stack-environment.ts';
import type { DocumentStore } from '#shared/ports/ports.ts';
import { createScriptedModel, snapshotAnswer } from '#test/fakes/scripted-model.ts';
import { type ScriptedAnswer, scriptedStreamer } from '#test/fakes/scripted-streamer.ts';

interface Setup {
  app?: RecapApp | undefined;
  /** Of another instance of it. */
  store?: DocumentStore;
  /** Of the model; absent: the app brings its own. */
  answers?: readonly ScriptedAnswer[];
  settings?: Record<string, string>;
}

interface Call {
  method?: string;
  body?: object | undefined;
  headers?: Record<string, string>;
  claims?: Record<string, unknown> | undefined;
}

/** Both functions of an app in one process, over a store and a bus in memory, until the test ends. */
export async function startLocalApp({ app, store, answers, settings = {} }: Setup) {
  const { model, requests } = scriptedStreamer(...(answers ?? []));
  const summariser = createScriptedModel({ answers: [snapshotAnswer()] });
  const logged: { event: string; fields: unknown }[] = [];
  const host = await startEmbeddedHost({
    environment: stackEnvironment({ shell: {}, model: { kind: 'fake-gemini' }, settings }),
    app,
    overrides: {
      ...(store && { store }),
      ...(answers && { model: { ...summariser, ...model } }),
      logger: { log: (_, event, fields) => void logged.push({ event, fields }) },
    },
  });
  onTestFinished(() => host.stop());
  /** As the user ada, unless the headers say otherwise. */
  const call = (path: string, { body, claims = {}, ...given }: Call = {}) => {
    const user = { uid: 'ada', projectId: localProjectId, now: new Date(), claims };
    return fetch(`${host.chatUrl}/v1/conversations${path}`, {
      method: given.method ?? (body ? 'POST' : 'GET'),
      headers: {
        authorization: `Bearer ${unsignedToken(user)}`,
        'content-type': 'application/json',
        ...given.headers,
      },
      ...(body && { body: JSON.stringify(body) }),
    });
  };
  const send = async (conversationId: string, text: string, claims?: Call['claims']) => {
    const body = { message: { id: randomUUID(), parts: [{ type: 'text', text }] } };
    const response = await call(`/${conversationId}/messages`, { body, claims });
    return { status: response.status, body: await response.json() };
  };
  return { host, requests, logged, call, send };
}
