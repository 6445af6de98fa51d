/** Where the emulator listens, and in which project. */
interface PubSubPlace {
  /** `host:port`, as in PUBSUB_EMULATOR_HOST. */
  pubsubHost: string;
  projectId: string;
}

/** How both topics are delivered to the worker; Pub/Sub takes back-offs in whole seconds. */
export interface PushSettings {
  /** A push that is not answered in this time counts as refused; of Pub/Sub 10 to 600. */
  ackDeadlineSeconds: number;
  /** Wait after the first refusal; it doubles with each further one. */
  minBackoffSeconds: number;
  maxBackoffSeconds: number;
  /** After this many refusals a message is a dead letter; of Pub/Sub 5 to 100. */
  maxDeliveryAttempts: number;
}

/** As deployed: docs/decisions and terraform name the same figures. */
export const deployedPushSettings: PushSettings = {
  ackDeadlineSeconds: 600,
  minBackoffSeconds: 10,
  maxBackoffSeconds: 600,
  maxDeliveryAttempts: 8,
};

/** Whether the worker has anything to do with the events topic: it is subscribed to it only then. */
export const listensToEvents = (settings: {
  FCM_PROJECT?: string | undefined;
  EVENT_WEBHOOK_URL?: string | undefined;
}): boolean => Boolean(settings.FCM_PROJECT) || Boolean(settings.EVENT_WEBHOOK_URL);

interface PushSetup extends PubSubPlace, PushSettings {
  topicId: string;
  subscriptionId: string;
  pushEndpoint: string;
  /** With it, the topic is created together with a pull subscription of the same id. */
  deadLetterTopicId?: string;
}

const REQUEST_TIMEOUT_MS = 10_000;
const DEAD_LETTERS_KEPT_SECONDS = 7 * 24 * 60 * 60;

/**
 * Creates a topic with a push subscription on the Pub/Sub emulator. What is there already stays; an existing
 * subscription gets the new endpoint and keeps its other settings. Throws Error when the emulator
 * refuses or does not answer within 10 s.
 */
export async function createTopicAndPushSubscription(setup: PushSetup): Promise<void> {
  const deadLetterPolicy = await createDeadLetters(setup);
  await create(setup, `topics/${setup.topicId}`, {});
  const subscription = `subscriptions/${setup.subscriptionId}`;
  const pushConfig = { pushEndpoint: setup.pushEndpoint };
  const isNew = await create(setup, subscription, {
    topic: fullName(setup, `topics/${setup.topicId}`),
    pushConfig,
    ackDeadlineSeconds: setup.ackDeadlineSeconds,
    retryPolicy: {
      minimumBackoff: `${setup.minBackoffSeconds}s`,
      maximumBackoff: `${setup.maxBackoffSeconds}s`,
    },
    ...(deadLetterPolicy && { deadLetterPolicy }),
  });
  if (isNew) return;
  const path = `${subscription}:modifyPushConfig`;
  await expectOk(await send(setup, { method: 'POST', path, body: { pushConfig } }), path);
}

/** Creates a topic without subscriptions; one that is there already stays. Throws like the above. */
export async function createTopic(place: PubSubPlace, topicId: string): Promise<void> {
  await create(place, `topics/${topicId}`, {});
}

/** Publishes an event as JSON, without the client library. Throws like the above. */
export async function publishEvent(
  place: PubSubPlace,
  topicId: string,
  event: object,
): Promise<void> {
  const path = `topics/${topicId}:publish`;
  const data = Buffer.from(JSON.stringify(event)).toString('base64');
  await expectOk(await send(place, { method: 'POST', path, body: { messages: [{ data }] } }), path);
}

async function createDeadLetters(setup: PushSetup): Promise<object | undefined> {
  if (setup.deadLetterTopicId === undefined) return undefined;
  const topic = `topics/${setup.deadLetterTopicId}`;
  await create(setup, topic, {});
  await create(setup, `subscriptions/${setup.deadLetterTopicId}`, {
    topic: fullName(setup, topic),
    // As long as Pub/Sub keeps any; the subscription itself never expires.
    messageRetentionDuration: `${DEAD_LETTERS_KEPT_SECONDS}s`,
    expirationPolicy: {},
  });
  return {
    deadLetterTopic: fullName(setup, topic),
    maxDeliveryAttempts: setup.maxDeliveryAttempts,
  };
}

/** True when the resource was made, false when it was there. */
async function create(place: PubSubPlace, path: string, body: object): Promise<boolean> {
  const response = await send(place, { method: 'PUT', path, body });
  if (response.status === 409) {
    await response.arrayBuffer();
    return false;
  }
  await expectOk(response, path);
  return true;
}

async function send(
  place: PubSubPlace,
  request: { method: string; path: string; body: object },
): Promise<Response> {
  return fetch(`http://${place.pubsubHost}/v1/${fullName(place, request.path)}`, {
    method: request.method,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(request.body),
    signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
  });
}

async function expectOk(response: Response, path: string): Promise<unknown> {
  const text = await response.text();
  if (!response.ok) throw new Error(`the Pub/Sub emulator refused ${path}: ${text}`);
  return text === '' ? {} : JSON.parse(text);
}

function fullName({ projectId }: PubSubPlace, path: string): string {
  return `projects/${projectId}/${path}`;
}
