import { createMemoryBucket } from '../fakes/memory-bucket.ts';
import { fileBucketSuite } from './file-bucket.suite.ts';

fileBucketSuite('in memory', () => {
  const bucket = createMemoryBucket();
  return Promise.resolve({ bucket, put: (request, bytes) => bucket.put(request, bytes) });
});
