/** What of Google's client all calls go through. */
export interface CountableFirestore {
  request(method: string, request: object, tag: string): Promise<unknown>;
  requestStream(...call: [method: string, isBidirectional: boolean, request: object]): unknown;
}

const lengthOf = (request: object, field: string): number => {
  const value: unknown = Reflect.get(request, field);
  return Array.isArray(value) ? value.length : 0;
};

/**
 * Counts what a client of Firestore asks for: documents read by their names, and documents written. What a query
 * finds has to be told with `found`.
 */
export function countDocuments(client: CountableFirestore) {
  const counted = { reads: 0, writes: 0 };
  const request = client.request.bind(client);
  const requestStream = client.requestStream.bind(client);
  client.request = (method, body, tag) => {
    if (method === 'commit') counted.writes += lengthOf(body, 'writes');
    return request(method, body, tag);
  };
  client.requestStream = (...call) => {
    const [method, , body] = call;
    if (method === 'batchGetDocuments') counted.reads += lengthOf(body, 'documents');
    return requestStream(...call);
  };
  return {
    /** A query is billed at least one document. */
    found: (documents: number) => void (counted.reads += Math.max(1, documents)),
    documents: () => ({ ...counted }),
  };
}
