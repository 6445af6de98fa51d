/** A request that somebody without credentials may send once, until it expires. */
export interface SignedRequest {
  url: string;
  method: 'PUT' | 'GET';
  /** To be sent exactly so: the signature holds them. */
  headers: Readonly<Record<string, string>>;
  expireTime: Date;
}

/**
 * The bucket of users' files. A file is written once and never changed. Paths are slash paths, as those of
 * documents. Every failure is an AppError FILES_UNAVAILABLE, retryable where waiting can help; `signal`: its
 * abortion.
 */
export interface FileBucket {
  /** A PUT of exactly this size and type, to a path that has no file yet. Unless kept, the file expires in days. */
  signUpload(file: { path: string; mimeType: string; sizeBytes: number }): Promise<SignedRequest>;
  /** A GET that saves the file under its name. */
  signDownload(file: { path: string; name?: string | undefined }): Promise<SignedRequest>;
  /** What the file is; undefined where there is none. */
  stat(
    path: string,
    signal?: AbortSignal,
  ): Promise<{ mimeType: string; sizeBytes: number } | undefined>;
  /** Its bytes, the first `maxBytes` at most; undefined where there is none. */
  read(
    path: string,
    options: { maxBytes: number; signal?: AbortSignal | undefined },
  ): Promise<Uint8Array | undefined>;
  /** The file does not expire any more; one that is not there stays so. */
  keep(path: string): Promise<void>;
  /** One that is not there is gone already. */
  delete(path: string): Promise<void>;
  /** Deletes all below a path; resolves to how many there were. May stop half way and be repeated. */
  deleteFolder(path: string): Promise<number>;
  /** How Google's own services name the file: `gs://…`. */
  uri(path: string): string;
}
