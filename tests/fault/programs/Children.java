// SPDX-License-Identifier: MIT
// T14: children start and end while eight threads allocate and write.
import java.io.FileOutputStream;

public class Children {
    static volatile boolean stop;

    static void busy() {
        while (!stop)
            try (FileOutputStream file = new FileOutputStream("/dev/null")) {
                file.write(new byte[20000]);
            } catch (Exception e) {
                System.out.println(e);
            }
    }

    public static void main(String[] arguments) throws Exception {
        Thread[] threads = new Thread[8];
        for (int i = 0; i < 8; i++) {
            threads[i] = new Thread(Children::busy);
            threads[i].start();
        }
        int statuses = 0;
        for (int i = 0; i < 10; i++)
            statuses += new ProcessBuilder("sh", "-c", "exit 3").start().waitFor();
        stop = true;
        for (Thread thread : threads)
            thread.join();
        System.out.println("statuses " + statuses);
    }
}
