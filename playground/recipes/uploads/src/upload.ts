// Stores a file outside of Waxwing and answers its public URL. The storage signs an address for one upload; object storages call that a
// presigned PUT. Your own backend asks for the signature, so that the storage's secret never reaches a browser.
export async function upload(storage: string, file: Blob): Promise<string> {
  const signed = await fetch(`${storage}/sign`, { method: 'POST', body: file.type });
  const { putUrl, publicUrl } = (await signed.json()) as { putUrl: string; publicUrl: string };
  const stored = await fetch(putUrl, { method: 'PUT', headers: { 'Content-Type': file.type }, body: file });
  if (!stored.ok) throw new Error(`The storage answered ${stored.status}.`);
  return publicUrl;
}
