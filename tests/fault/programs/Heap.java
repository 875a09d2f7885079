// SPDX-License-Identifier: MIT
// T4: four threads use the C heap below the Java one: compressors, and buffers outside of the collected heap.
import java.nio.ByteBuffer;
import java.util.zip.Deflater;

public class Heap {
    public static void main(String[] arguments) throws Exception {
        Thread[] threads = new Thread[4];
        long[] sums = new long[4];
        for (int i = 0; i < 4; i++) {
            int mine = i;
            threads[i] = new Thread(() -> {
                for (int k = 0; k < 50; k++) {
                    Deflater deflater = new Deflater();
                    deflater.setInput(new byte[50000]);
                    deflater.finish();
                    sums[mine] += deflater.deflate(new byte[50000]) + ByteBuffer.allocateDirect(4242).capacity();
                    deflater.end();
                }
            });
            threads[i].start();
        }
        for (Thread thread : threads)
            thread.join();
        System.out.println(sums[0] + sums[1] + sums[2] + sums[3]);
    }
}
