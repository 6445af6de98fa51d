import {
  createTopic,
  createTopicAndPushSubscription,
  deployedPushSettings,
} from '#infra/local/stack/pubsub-setup.ts';
import {
  firestoreEmulatorHost,
  pubsubEmulatorHost,
} from '#test/support/processes/emulator-environment.ts';
import { buildImage, startInstance } from './buildpack.ts';
import { startGoogleServices } from './google-services.ts';
import { terraformFunctions, type TerraformFunction } from './terraform-functions.ts';

/** An archive, built and started as Google does it, with the variables that Terraform gives, on the emulators. */
export async function deployArchive(zip: Uint8Array) {
  await using started = new AsyncDisposableStack();
  const [image, functions] = await Promise.all([buildImage(zip), terraformFunctions()]);
  started.defer(() => image.remove());
  const google = await startGoogleServices(functions.chat.environment['UPLOADS_BUCKET'] ?? '');
  started.defer(() => google.close());
  const start = async (target: string, { environment, ...settings }: TerraformFunction) => {
    const instance = await startInstance(image, {
      target,
      ...settings,
      environment: {
        ...environment,
        ...google.variables,
        NODE_OPTIONS: `${environment['NODE_OPTIONS'] ?? ''} --import ${google.redirect}`,
        FIRESTORE_EMULATOR_HOST: firestoreEmulatorHost(),
        PUBSUB_EMULATOR_HOST: pubsubEmulatorHost(),
      },
    });
    started.defer(() => instance.stop());
    return instance;
  };
  const chat = await start('chat', functions.chat);
  const compaction = await start('compaction', functions.compaction);
  // The topics, and a subscription by which the worker hears what chat publishes.
  const {
    GOOGLE_CLOUD_PROJECT: projectId = '',
    COMPACTION_TOPIC: topicId = '',
    EVENTS_TOPIC: eventsTopicId = '',
  } = functions.chat.environment;
  const place = { pubsubHost: pubsubEmulatorHost(), projectId };
  const { PUSH_AUDIENCE: audience = '', PUSH_SERVICE_ACCOUNT: email = '' } =
    functions.compaction.environment;
  await createTopic(place, eventsTopicId);
  await createTopicAndPushSubscription({
    ...place,
    topicId,
    subscriptionId: topicId,
    pushEndpoint: await google.signPushes(compaction.url, { audience, email }),
    ...deployedPushSettings,
    minBackoffSeconds: 1,
    maxBackoffSeconds: 1,
  });
  const running = started.move();
  return {
    image,
    chat,
    compaction,
    /** An ID token of a user of the deployment's project. */
    idToken: (uid: string) => google.idToken(projectId, uid),
    stop: () => running.disposeAsync(),
  };
}
