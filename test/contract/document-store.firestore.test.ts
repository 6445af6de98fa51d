import { createFirestoreDocumentStore } from '#functions/adapters/firestore/firestore-document-store.ts';
import { demoProjectId, firestoreEmulatorHost } from '../support/processes/emulator-environment.ts';
import { describeDocumentStore } from './document-store.suite.ts';

describeDocumentStore('Firestore emulator', () => {
  firestoreEmulatorHost();
  return createFirestoreDocumentStore({ projectId: demoProjectId(), deadlineMs: 20_000 });
});
