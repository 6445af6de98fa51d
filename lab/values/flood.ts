import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startEmulators } from '#infra/local/emulators.ts';
import { createTopic } from '#infra/local/stack/pubsub-setup.ts';
import { archiveFiles } from '#infra/package/archive.ts';
import { toZip } from '#infra/package/zip.ts';
import { buildImage, type Instance, startInstance } from '#test/support/deployed/buildpack.ts';
import { startGoogleServices } from '#test/support/deployed/google-services.ts';
import { terraformFunctions } from '#test/support/deployed/terraform-functions.ts';
import { costlyRequests, type CostlyRequest } from './costly-requests.ts';

const help = `Usage: npm run flood

Builds the archive, starts one instance of chat as Google does, and sends it each request of lab/values/costly-requests.ts at
least 20 times from each of 4 connections while a user sends messages. Prints what these messages and the attacks took.
Needs the emulators and Terraform.

Exit code: 0 the instance lived, stayed within its memory, and the median message took at most three times as long as
without attacks; 1 it did not; 2 wrong arguments.`;

const CONNECTIONS = 4;
const REQUESTS_MIN = 20;
/** Fewer than a user may make in a minute, so that no limit shields what is attacked. */
const REQUESTS_MAX = 100;
/** Messages to measure while each request is repeated. */
const MESSAGES = 3;
const QUIET_MESSAGES = 20;
const SLOWDOWN_MAX = 3;

const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

type IdToken = (uid: string) => Promise<string>;

interface Answer {
  status: number;
  text: string;
  ms: number;
}

async function call(
  url: string,
  token: string,
  { method, path, body }: Omit<CostlyRequest, 'name'>,
) {
  const startMs = performance.now();
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body !== undefined && { body }),
  });
  return { status: answer.status, text: await answer.text(), ms: performance.now() - startMs };
}

/** A first message of somebody new: no limit of a user is in its way. */
async function sendMessage(url: string, idToken: IdToken): Promise<number> {
  const message = { id: randomUUID(), parts: [{ type: 'text', text: 'My dog is called Pixel.' }] };
  const token = await idToken(`user-${randomUUID()}`);
  const answer = await call(url, token, {
    method: 'POST',
    path: `/v1/conversations/${randomUUID()}/messages`,
    body: JSON.stringify({ message }),
  });
  if (answer.status !== 200) throw new Error(`a message was answered with ${answer.text}`);
  return answer.ms;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Resident memory of a process in MiB: the most it has had, and what it has now. */
async function memoryMib({ pid }: Instance): Promise<{ peak: number; now: number }> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  const mib = (name: string) =>
    Math.round(Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1_024);
  return { peak: mib('VmHWM'), now: mib('VmRSS') };
}

/** The connection of a body that is not read is closed. If the instance has ended, no message is answered any more. */
const brokenOff = (): Answer => ({ status: 0, text: '', ms: 0 });

/** Repeats one request on each connection until enough messages were measured beside it. */
async function attack(url: string, idToken: IdToken, request: CostlyRequest) {
  const token = await idToken(`attacker-${randomUUID()}`);
  const answers: Answer[] = [];
  const messages: number[] = [];
  const connections = Array.from({ length: CONNECTIONS }, async () => {
    for (
      let sent = 0;
      sent < REQUESTS_MIN || (messages.length < MESSAGES && sent < REQUESTS_MAX);
      sent++
    )
      answers.push(await call(url, token, request).catch(brokenOff));
  });
  const honest = async () => {
    while (messages.length < MESSAGES) messages.push(await sendMessage(url, idToken));
  };
  await Promise.all([...connections, honest()]);
  return { answers, messages };
}

const row = (name: string, cells: readonly (string | number)[]) =>
  console.log([name.padEnd(48), ...cells.map((cell) => String(cell).padStart(10))].join(''));

async function flood(chat: Instance, idToken: IdToken, memoryMaxMib: number): Promise<boolean> {
  for (let i = 0; i < QUIET_MESSAGES; i++) await sendMessage(chat.url, idToken);
  const quiet: number[] = [];
  for (let i = 0; i < QUIET_MESSAGES; i++) quiet.push(await sendMessage(chat.url, idToken));
  const quietMedian = quantile(quiet, 0.5);
  row('', ['answers', 'requests', 'median', 'messages', 'median', 'max', 'MiB']);
  const told = (values: readonly number[]) =>
    [quantile(values, 0.5), Math.max(...values)].map(Math.round);
  row('(quiet)', ['', '', '', quiet.length, ...told(quiet), (await memoryMib(chat)).now]);
  const all: number[] = [];
  for (const request of costlyRequests) {
    const { answers, messages } = await attack(chat.url, idToken, request);
    all.push(...messages);
    const statuses = [...new Set(answers.map(({ status }) => status || 'closed'))].join('/');
    const median = Math.round(
      quantile(
        answers.map(({ ms }) => ms),
        0.5,
      ),
    );
    const { now } = await memoryMib(chat);
    row(request.name, [statuses, answers.length, median, messages.length, ...told(messages), now]);
  }
  const { peak } = await memoryMib(chat);
  const slowdown = quantile(all, 0.5) / quietMedian;
  row('(all attacks)', ['', '', '', all.length, ...told(all), peak]);
  console.log(
    `Median message: ${slowdown.toFixed(2)} times the quiet one. Most memory: ${peak} MiB of ${memoryMaxMib}.`,
  );
  return slowdown <= SLOWDOWN_MAX && peak <= memoryMaxMib;
}

async function run(): Promise<boolean> {
  const emulators = await startEmulators({ log: () => undefined });
  if ('missing' in emulators) throw new Error(emulators.missing);
  const [image, { chat: settings }] = await Promise.all([
    archiveFiles(root).then((files) => buildImage(toZip(files))),
    terraformFunctions(),
  ]);
  const { environment } = settings;
  const google = await startGoogleServices(environment['UPLOADS_BUCKET'] ?? '');
  const { GOOGLE_CLOUD_PROJECT: projectId = '', EVENTS_TOPIC: events = '' } = environment;
  const place = { pubsubHost: emulators.pubsubHost, projectId };
  await createTopic(place, events);
  await createTopic(place, environment['COMPACTION_TOPIC'] ?? '');
  const chat = await startInstance(image, {
    target: 'chat',
    ...settings,
    environment: {
      ...environment,
      ...google.variables,
      NODE_OPTIONS: `${environment['NODE_OPTIONS'] ?? ''} --import ${google.redirect}`,
      FIRESTORE_EMULATOR_HOST: emulators.firestoreHost,
      PUBSUB_EMULATOR_HOST: emulators.pubsubHost,
    },
  });
  try {
    return await flood(chat, (uid) => google.idToken(projectId, uid), settings.memoryMib);
  } catch (error) {
    console.error(chat.output().split('\n').slice(-20).join('\n'));
    throw error;
  } finally {
    await chat.stop();
    await google.close();
    await image.remove();
    await emulators.stop();
  }
}

const { values } = parseArgs({ options: { help: { type: 'boolean', default: false } } });
if (values.help) console.log(help);
else process.exit((await run()) ? 0 : 1);
