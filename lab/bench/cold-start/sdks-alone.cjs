/* A function of the framework and the SDKs alone; `packed.ts` puts it beside the packed SDKs. */
const { env } = require('node:process');
const { json } = require('node:stream/consumers');
const { http } = require('@google-cloud/functions-framework');

http('alone', async (request, response) => {
  const { message } = request.body ?? (await json(request));
  const { Firestore } = require('./sdk.cjs').firestore;
  const document = new Firestore().doc(`alone/${message.id}`);
  await document.get();
  await document.set(message);
  const { GoogleGenAI } = require('./sdk.cjs').genai;
  const { GEMINI_BASE_URL: baseUrl } = env;
  const { models } = new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl } });
  const [{ text: contents }] = message.parts;
  const answer = await models.generateContentStream({ model: 'gemini-2.5-flash', contents });
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for await (const { text: delta } of answer)
    response.write(`data: ${JSON.stringify({ type: 'text-delta', delta })}\n\n`);
  response.end();
});
