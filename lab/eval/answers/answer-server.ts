import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text as readText } from 'node:stream/consumers';
import { wholeAnswer, sendJson } from '#infra/fake-gemini/server/respond.ts';
import { invalidArgument, notFound } from '#infra/fake-gemini/server/refusals.ts';
import type { Reply } from '#infra/fake-gemini/server/reply.ts';
import {
  modelRequestSchema,
  readAddress,
  type ModelRequestBody,
} from '#infra/fake-gemini/server/request.ts';
import { contentUnits, overheadUnits, toTokens } from '#infra/fake-gemini/answers/token-rule.ts';
import { openServer } from '#infra/local/processes/open-server.ts';
import type { AnswerFolder } from './answer-folder.ts';

interface AnswerServer {
  url: string;
  close(): Promise<void>;
}

const promptTokens = (body: ModelRequestBody): number =>
  toTokens(
    (body.contents ?? []).reduce(
      (units, content) => units + contentUnits(content),
      overheadUnits(body),
    ),
  );

function parseBody(text: string): ModelRequestBody | undefined {
  try {
    return modelRequestSchema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** A prompt that the API blocks: the service neither waits for a better time nor asks in another form. */
const noAnswer: Reply = { parts: [], blockReason: 'OTHER' };

async function serve(
  answers: AnswerFolder,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { pathname } = new URL(request.url ?? '/', 'http://answers');
  const address = readAddress(pathname);
  const body = parseBody(await readText(request));
  if (address === undefined || address.operation === 'streamGenerateContent')
    return sendJson(response, 404, { error: notFound(`nothing answers ${pathname}`) });
  if (body === undefined)
    return sendJson(response, 400, { error: invalidArgument('Invalid JSON payload received.') });
  const tokens = promptTokens(body);
  if (address.operation === 'countTokens') return sendJson(response, 200, { totalTokens: tokens });
  const promptId = String(request.headers['x-recap-prompt-id'] ?? '');
  const text = await answers.answer({ promptId, body });
  const answer = wholeAnswer({
    reply: text === undefined ? noAnswer : { parts: [{ text }], finishReason: 'STOP' },
    usage: { promptTokens: tokens, cachedTokens: 0 },
    identity: { modelVersion: address.model, responseId: promptId },
    withUsage: true,
  });
  sendJson(response, 200, answer.response);
}

/** Starts a server on the loopback interface that speaks Gemini's REST API and answers from files. */
export async function startAnswerServer(answers: AnswerFolder): Promise<AnswerServer> {
  const server = createServer((request, response) => {
    // What the folder refuses must fail the request, not hang it.
    serve(answers, request, response).catch((error: unknown) => {
      process.stderr.write(`${String(error)}\n`);
      response.destroy();
    });
  });
  return openServer(server);
}
