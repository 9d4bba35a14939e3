// Stores a file outside of Waxwing and returns its public URL. The storage signs a URL for one upload (a presigned PUT). Your backend requests the
// signature, so that the secret of the storage never reaches a browser.
export async function upload(storage: string, file: Blob): Promise<string> {
  const signed = await fetch(`${storage}/sign`, { method: 'POST', body: file.type });
  const { putUrl, publicUrl } = (await signed.json()) as { putUrl: string; publicUrl: string };
  const stored = await fetch(putUrl, { method: 'PUT', headers: { 'Content-Type': file.type }, body: file });
  if (!stored.ok) throw new Error(`The storage responded with ${stored.status}.`);
  return publicUrl;
}
